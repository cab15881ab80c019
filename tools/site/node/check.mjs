/**
 * Checks `docs.json` by Mintlify's own schema, and compiles and renders every page.
 *
 *   node check.mjs [--preview FOLDER]     also writes the pages as plain HTML
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as jsx from "react/jsx-runtime";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { evaluate } from "@mdx-js/mdx";
import { validateDocsConfig } from "@mintlify/validation";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import { components } from "./components.mjs";
import { shell } from "./preview.mjs";

const DOCS = fileURLToPath(new URL("../../../docs", import.meta.url));
const preview = process.argv[2] === "--preview" ? process.argv[3] : undefined;
const config = JSON.parse(readFileSync(join(DOCS, "docs.json"), "utf8"));
const problems = configProblems();

const pages = readdirSync(DOCS, { recursive: true }).filter((name) => name.endsWith(".mdx")).sort();
for (const name of pages) {
  try {
    const html = await rendered(name);
    if (preview !== undefined) write(name, html);
  } catch (error) {
    problems.push(`${name}:${error.line ?? 0}: ${error.reason ?? error}`);
  }
}
if (preview !== undefined) for (const name of ["images", "theme.css", "favicon.svg"]) cpSync(join(DOCS, name), join(preview, name), { recursive: true });

for (const problem of problems) console.error(problem);
console.log(`${pages.length} pages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function configProblems() {
  const { success, error } = validateDocsConfig(config);
  return success ? [] : error.issues.map(({ path, message }) => `docs.json: ${path.join(".")}: ${message}`);
}

async function rendered(name) {
  const text = readFileSync(join(DOCS, name), "utf8");
  const page = await evaluate(text, { ...jsx, remarkPlugins: [remarkGfm, remarkFrontmatter] });
  return renderToStaticMarkup(createElement(page.default, { components }));
}

function write(name, html) {
  const file = join(preview, name.replace(/\.mdx$/, ".html"));
  mkdirSync(dirname(file), { recursive: true });
  const [, title] = readFileSync(join(DOCS, name), "utf8").match(/^title: "(.*)"$/m);
  writeFileSync(file, shell({ title, html, config, name: name.replace(/\.mdx$/, "") }));
}
