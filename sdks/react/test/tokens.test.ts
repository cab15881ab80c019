import { expect, test } from "vitest";
import { markedUp } from "../src/code/grammars.js";
import { languageOf, linesOf, tokensOf } from "../src/code/tokens.js";

test.each([
  ["py", 'def f(a: int) -> str:\n    """<b>&amp;</b>"""\n    return f"{a} \' \\" &lt;"\n'],
  ["tsx", "const a = <b className=\"x\">{`${1 < 2 && 'y'}`}</b>; // &quot;"],
  ["json", '{"a": [1, null, "<script>"]}'],
])("the tokens of %s are its text", (language, code) => {
  const tokens = tokensOf(markedUp(code, language) ?? "");
  expect(tokens.map((token) => token.text).join("")).toBe(code);
  expect(new Set(tokens.map((token) => token.look)).size).toBeGreaterThan(1);
  expect(linesOf(tokens).map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(code);
});

test("a language that is not there is plain", () => {
  expect(markedUp("x", "brainfuck")).toBeNull();
  expect(["src/a/b.test.TS", "Makefile", "a.b/Dockerfile"].map(languageOf)).toEqual(["ts", "makefile", "dockerfile"]);
});
