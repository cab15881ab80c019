import { renderToStaticMarkup } from "react-dom/server";
import { beforeAll, expect, test, vi } from "vitest";
import { Markdown } from "../src/transcript/markdown.js";

const drawn = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

// What reads Markdown is loaded when it is first drawn.
beforeAll(async () => {
  drawn("");
  await vi.dynamicImportSettled();
});

test("markup becomes elements", () => {
  expect(drawn("# Title\n\nSome *em*, **strong** and `a < b`.")).toBe(
    '<div class="sa-markdown"><h3 dir="auto">Title</h3><p dir="auto">Some <em>em</em>, <strong>strong</strong> and <code>a &lt; b</code>.</p></div>',
  );
});

test.each([
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  'text <b onclick="x">bold</b>',
  "<iframe src=//evil.example></iframe>",
])("HTML stays text: %s", (html) => {
  expect(drawn(html)).not.toMatch(/<(script|img|b|iframe)[\s>]/);
  expect(drawn(html)).toContain("&lt;");
});

test.each(["javascript:alert(1)", "data:text/html,x", "vbscript:x", "JaVaScRiPt:x"])("a link to %s is no link", (href) => {
  expect(drawn(`[click](${href})`)).not.toContain("<a ");
});

test("an image is a link to it: nothing is fetched", () => {
  const html = drawn("![alt](https://evil.example/pixel.png)");
  expect(html).not.toContain("<img");
  expect(html).toContain('href="https://evil.example/pixel.png"');
});

test("a fence that is still open is code already", () => {
  expect(drawn("Look:\n\n```js\nconst a = 1")).toContain("<code>const a = 1</code>");
});

test.each([100, 2_500])("what is nested %i levels deep is shown as it is", { timeout: 30_000 }, (levels) => {
  for (const mark of [">", "- "]) expect(drawn(`${mark.repeat(levels)}deep`)).toMatch(/^<div class="sa-plain-text"/);
});

test("a package with its version is no address for mail", () => {
  expect(drawn("Install react@18.2.0 or mail me@example.com.")).not.toContain("<a ");
  expect(drawn("Mail <me@example.com>.")).toContain('href="mailto:me@example.com"');
});

test("a very long text keeps its markup", () => {
  const html = drawn("A **word** in a paragraph.\n\n".repeat(4000));
  expect(html.match(/<strong>/g)?.length).toBe(4000);
});
