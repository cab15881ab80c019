import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { exact } from "../src/transcript/exact.js";

const drawn = (text: string) => renderToStaticMarkup(<>{exact(text)}</>);
const named = (code: string) => `<mark class="sa-unseen">U+${code}</mark>`;

test("what turns the direction, or cannot be seen, is named", () => {
  expect(drawn("rm \u202etxt.x\u2066\u200b\r\x1b[2K")).toBe(
    `rm ${named("202E")}txt.x${named("2066")}${named("200B")}${named("000D")}${named("001B")}[2K`,
  );
});

test("other scripts, tabs, lines and joined emoji stay as they are", () => {
  const text = "echo مرحبا\t👩‍👧\nls";
  expect(drawn(text)).toBe(text);
});
