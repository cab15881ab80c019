import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { DiffView } from "../src/transcript/diffView.js";
import { exact } from "../src/transcript/exact.js";

const drawn = (text: string) => renderToStaticMarkup(<>{exact(text)}</>);
const named = (code: string) => `<mark class="sa-unseen">U+${code}</mark>`;

test("what turns the direction, or cannot be seen, is named", () => {
  expect(drawn("rm \u202etxt.x\u2066\u200b\r\x1b[2K")).toBe(
    `rm ${named("202E")}txt.x${named("2066")}${named("200B")}${named("000D")}${named("001B")}[2K`,
  );
});

test("so is what no typeface draws: soft hyphens, joiners between letters, fillers, tags, line separators", () => {
  expect(drawn("r\u00adm\u200c\u3164\u2028\u{e0061}a\u200db")).toBe(
    `r${named("00AD")}m${named("200C")}${named("3164")}${named("2028")}${named("E0061")}a${named("200D")}b`,
  );
});

test("other scripts, tabs, lines and joined emoji stay as they are", () => {
  const text = "echo مرحبا\t👩‍👧 ❤️‍🔥 👩🏽‍💻 می\u200cخواهم\nls";
  expect(drawn(text)).toBe(text);
});

test("the path of a change is exact, too", () => {
  const html = renderToStaticMarkup(<DiffView path={"/w/cod\u202efdp.sh"} to={"/w/a\u200b"} action="moved" diff={null} directory="/w" />);
  expect(html).toContain(`cod${named("202E")}fdp.sh → a${named("200B")}`);
});
