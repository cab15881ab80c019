/** What a search in the transcript finds. */
import type { Entry } from "sandbox-agentd";
import { expect, test } from "vitest";
import { Rows } from "../src/transcript/rows.js";
import { found } from "../src/transcript/search.js";

const said = (text: string) => [{ kind: "message", role: "assistant", id: "m", text, files: [], images: [] }] as unknown as Entry[];
const finds = (text: string, words: string) => found(said(text), words, new Rows()).length > 0;

test.each([
  ["Some **bold** words", "some bold words"],
  ["Call `greet()` with _one_ name", "greet() with one name"],
  ["See [the guide](https://example.com/a_b) first", "the guide first"],
  ["a line\nand the next", "line and"],
  ["İstanbul İ x", "x"],
])("%j says %j", (text, words) => {
  expect(finds(text, words)).toBe(true);
});

test.each([
  ["Some **bold** words", "**bold**"],
  ["the field snake_case", "snake_case"],
  ["See [the guide](https://example.com/a_b) first", "example.com/a_b"],
])("what is written in %j is found too: %j", (text, words) => {
  expect(finds(text, words)).toBe(true);
});

test("brackets without an end take no longer than other text", () => {
  const before = performance.now();
  expect(finds("[".repeat(1_000_000), "nowhere")).toBe(false);
  expect(finds("[a](".repeat(250_000), "nowhere")).toBe(false);
  expect(performance.now() - before).toBeLessThan(5_000);
});
