/** Writes the licences of what the page is built from beside it, as they ask for. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));
/** Tools of the build, of which nothing is in the page. */
const TOOLS = new Set(["vite"]);

export function licenses(): Plugin {
  return {
    name: "licenses",
    apply: "build",
    writeBundle({ dir = "" }) {
      const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8")) as { dependencies: Record<string, string> };
      const texts = Object.keys(dependencies)
        .filter((name) => !TOOLS.has(name))
        .map((name) => `${name}\n\n${licenseOf(join(here, "node_modules", name))}`);
      writeFileSync(join(dir, "licenses.txt"), texts.join(`\n\n${"-".repeat(80)}\n\n`));
    },
  };
}

function licenseOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[sc]e/i.test(name));
  if (!file) throw new Error(`${folder} has no licence`);
  return readFileSync(join(folder, file), "utf8").trim();
}
