import { expect, test } from "vitest";
import { breakOf, decodedText, withBreaks } from "../src/files/fileText";

const bytes = (...values: number[]) => new Uint8Array(values).buffer;

test("what is not text is not decoded", () => {
  expect(decodedText(bytes(0x61, 0xff), false)).toBeNull();
  expect(decodedText(bytes(0x61, 0x00), false)).toBeNull();
  expect(decodedText(bytes(0x61, 0xc3), false)).toBeNull();
  expect(decodedText(bytes(0x61, 0xc3), true)).toBe("a");
});

test("a byte order mark stays", () => {
  expect(decodedText(bytes(0xef, 0xbb, 0xbf, 0x61), false)).toBe("\ufeffa");
});

test("lines keep their ends", () => {
  expect(breakOf("a")).toBe("\n");
  expect(breakOf("a\nb\n")).toBe("\n");
  expect(breakOf("a\r\nb\r\n")).toBe("\r\n");
  expect(breakOf("a\r\nb\n")).toBeNull();
  expect(breakOf("a\rb")).toBeNull();
  expect(withBreaks(withBreaks("a\r\nb\r\n", "\n"), "\r\n")).toBe("a\r\nb\r\n");
});
