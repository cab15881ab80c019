/** Writes dist/styles.css: the files that src/styles.css imports, one after the other. */
import { readFileSync, writeFileSync } from "node:fs";

const source = new URL("src/styles.css", import.meta.url);
const files = [...readFileSync(source, "utf8").matchAll(/@import "(.+)";/g)];
const styles = files.map(([, file]) => readFileSync(new URL(file, source), "utf8"));
writeFileSync(new URL("dist/styles.css", import.meta.url), styles.join("\n"));
