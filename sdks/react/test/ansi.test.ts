import { expect, test } from "vitest";
import { ansiRuns, inBlocks } from "../src/transcript/ansi.js";

test("colours and weight become classes", () => {
  expect(ansiRuns("a \x1b[1;31mred\x1b[0m b")).toEqual([
    { text: "a ", look: "" },
    { text: "red", look: "sa-bold sa-fg1" },
    { text: " b", look: "" },
  ]);
});

test("bright, background, palette and true colours are known", () => {
  expect(ansiRuns("\x1b[92;44mx\x1b[38;5;196my\x1b[48;2;1;2;3mz\x1b[39;49mw")).toEqual([
    { text: "x", look: "sa-fg10 sa-bg4" },
    { text: "y", look: "sa-bg4", color: "rgb(255 0 0)" },
    { text: "z", look: "", color: "rgb(255 0 0)", background: "rgb(1 2 3)" },
    { text: "w", look: "" },
  ]);
});

test("what moves the cursor, sets titles or links is left out", () => {
  expect(ansiRuns("\x1b[2K\x1b]0;title\x07a\x1b[?25l\x1b]8;;http://x\x1b\\b\x1b[3;4Hc")).toEqual([
    { text: "a", look: "" },
    { text: "b", look: "" },
    { text: "c", look: "" },
  ]);
});

test("character sets, single letters, strings and bells are left out", () => {
  expect(ansiRuns("\x1b[31mred\x1b(B\x1b[m plain\x1b7\x1b=\x1bP1$r0m\x1b\\\x07 \x0fend\x1b")).toEqual([
    { text: "red", look: "sa-fg1" },
    { text: " plain", look: "" },
    { text: " end", look: "" },
  ]);
});

test("codes may belong together with colons", () => {
  expect(ansiRuns("\x1b[38:2::255:128:0ma\x1b[48:5:196mb\x1b[0;4:3mc\x1b[4:0md")).toEqual([
    { text: "a", look: "", color: "rgb(255 128 0)" },
    { text: "b", look: "", color: "rgb(255 128 0)", background: "rgb(255 0 0)" },
    { text: "c", look: "sa-underline" },
    { text: "d", look: "" },
  ]);
});

test("a letter that was struck over is not doubled", () => {
  expect(ansiRuns("N\bNA\bAME\b_\n")).toEqual([{ text: "NAM_\n", look: "" }]);
});

test("lines come in blocks, and nothing is lost between them", () => {
  const runs = ansiRuns("1\n2\x1b[31m\n3\n4\x1b[0m\n5\n");
  expect(inBlocks(runs, 2).map((block) => block.map((run) => run.text))).toEqual([["1\n2", "\n"], ["3\n4", "\n"], ["5\n"]]);
  expect(inBlocks(runs, 2)[1]?.[0]?.look).toBe("sa-fg1");
  expect(inBlocks([], 2)).toEqual([]);
});

test("a line that was drawn over shows its last state", () => {
  expect(ansiRuns("10%\r50%\r100%\r\nnext\r\n")).toEqual([{ text: "100%\nnext\n", look: "" }]);
});

test("an escape that is cut off by the end does no harm", () => {
  expect(ansiRuns("a\x1b[3")).toEqual([{ text: "a", look: "" }]);
});
