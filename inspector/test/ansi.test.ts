import { expect, test } from "vitest";
import { ansiRuns } from "../src/transcript/ansi";

test("colours and weight become classes", () => {
  expect(ansiRuns("a \x1b[1;31mred\x1b[0m b")).toEqual([
    { text: "a ", look: "" },
    { text: "red", look: "bold fg1" },
    { text: " b", look: "" },
  ]);
});

test("bright, background, palette and true colours are known", () => {
  expect(ansiRuns("\x1b[92;44mx\x1b[38;5;196my\x1b[48;2;1;2;3mz\x1b[39;49mw")).toEqual([
    { text: "x", look: "fg10 bg4" },
    { text: "y", look: "bg4", color: "rgb(255 0 0)" },
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

test("a line that was drawn over shows its last state", () => {
  expect(ansiRuns("10%\r50%\r100%\r\nnext\r\n")).toEqual([{ text: "100%\nnext\n", look: "" }]);
});

test("an escape that is cut off by the end does no harm", () => {
  expect(ansiRuns("a\x1b[3")).toEqual([{ text: "a", look: "" }]);
});
