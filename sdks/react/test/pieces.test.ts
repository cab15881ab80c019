/** Long texts are cut where it does not hurt, and the same way whether they stream or not. */
import { expect, test } from "vitest";
import { chunksOf, Pieces, piecesOf } from "../src/transcript/pieces.js";

const paragraphs = "Some words here, and some there.\n\n".repeat(3000);
const list = "- an item\n\n".repeat(9000);
const code = `Look:\n\n\`\`\`\`python\n${"print('```')\n\n".repeat(9000)}\`\`\`\``;
const line = "x".repeat(100_000);
const emoji = "😀".repeat(40_000);

test("a short text is one piece", () => {
  expect(piecesOf("Hello")).toEqual([{ text: "Hello", continues: false, goesOn: false }]);
});

test.each([
  ["paragraphs", paragraphs],
  ["a list", list],
  ["a line", line],
  ["characters of two halves", emoji],
])("%s: the pieces are the text, and none is long", (_, text) => {
  const pieces = piecesOf(text);
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) {
    expect(piece.text.length).toBeLessThanOrEqual(24_001);
    expect(piece.text).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
  }
});

test("paragraphs are cut between two of them", () => {
  for (const piece of piecesOf(paragraphs).slice(0, -1)) expect(piece.text).toMatch(/^Some words.*\n\n$/s);
});

test("a fence that is cut is closed, and opened again", () => {
  const pieces = piecesOf(code);
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces[0]).toMatchObject({ continues: false, goesOn: true });
  expect(pieces[1]).toMatchObject({ continues: true, goesOn: true });
  expect(pieces.at(-1)).toMatchObject({ continues: true, goesOn: false });
  for (const piece of pieces.slice(1)) expect(piece.text).toMatch(/^````python\n/);
  for (const piece of pieces.slice(0, -1)) expect(piece.text).toMatch(/\n````$/);
});

test.each([paragraphs, list, code, line, emoji])("a text that streams is cut as one that is there", (text) => {
  const growing = new Pieces();
  for (let end = 0; end < text.length; end += 7001) growing.of(text.slice(0, end));
  const pieces = growing.of(text);
  expect(pieces).toEqual(piecesOf(text));
  expect(growing.of(`${text} more`)[0]).toBe(pieces[0]);
  expect(growing.of("Another text")).toEqual(piecesOf("Another text"));
});

test.each([paragraphs, code, line, emoji, ""])("chunks of a text are the text", (text) => {
  const chunks = chunksOf(text);
  expect(chunks.join("")).toBe(text);
  for (const chunk of chunks) expect(chunk).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$|^.{2001}/s);
});
