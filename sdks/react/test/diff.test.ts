import { expect, test } from "vitest";
import { parsedDiff, sideBySide } from "../src/transcript/diff.js";

const DIFF = `--- a/list.txt
+++ b/list.txt
@@ -1,4 +1,4 @@ heading
 one
-two
--- three
+zwei
+++ drei
 four
\\ No newline at end of file
`;

test("lines are numbered on both sides, and what looks like a header in a hunk is content", () => {
  expect(parsedDiff(DIFF)).toEqual({
    added: 2,
    removed: 2,
    lines: [
      { kind: "hunk", text: "@@ -1,4 +1,4 @@ heading" },
      { kind: "same", text: "one", old: 1, new: 1 },
      { kind: "removed", text: "two", old: 2, new: null },
      { kind: "removed", text: "-- three", old: 3, new: null },
      { kind: "added", text: "zwei", old: null, new: 2 },
      { kind: "added", text: "++ drei", old: null, new: 3 },
      { kind: "same", text: "four", old: 4, new: 4 },
    ],
  });
});

test("a line of a hunk is content, even if it looks like a file's header", () => {
  const { lines } = parsedDiff("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- /tmp/old.csv\n+++ /tmp/new.csv\n same\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n");
  expect(lines.map((line) => line.text)).toEqual(["@@ -1,2 +1,2 @@", "-- /tmp/old.csv", "++ /tmp/new.csv", "same", "@@ -1 +1 @@", "a", "b"]);
});

test("side by side, what was removed stands beside what came for it", () => {
  const pairs = sideBySide(parsedDiff("@@ -1,2 +1,1 @@\n-a\n-b\n+c\n"));
  expect(pairs.map(({ hunk, left, right }) => [hunk, left && "text" in left && left.text, right && "text" in right && right.text])).toEqual([
    ["@@ -1,2 +1,1 @@", null, null],
    [null, "a", "c"],
    [null, "b", null],
  ]);
});

test("several files in one diff have their own numbers and no headers among the lines", () => {
  const two = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\nindex 12..34\n--- a/y\n+++ b/y\n@@ -9 +9 @@\n-c\n+d\n";
  const { lines, added, removed } = parsedDiff(two);
  expect([added, removed]).toEqual([2, 2]);
  expect(lines.map((line) => line.text)).toEqual(["@@ -1 +1 @@", "a", "b", "@@ -9 +9 @@", "c", "d"]);
});

test("a text without hunks is content", () => {
  expect(parsedDiff("+only\n")).toEqual({ lines: [{ kind: "added", text: "only", old: null, new: 1 }], added: 1, removed: 0 });
});
