/** Writes src/openapi.ts from the daemon's OpenAPI document; `--check` only says whether it is fresh. */
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../../docs/openapi.json", import.meta.url);
const target = new URL("src/openapi.ts", import.meta.url);
const document = JSON.parse(readFileSync(source, "utf8"));

const types = astToString(await openapiTS(document, { defaultNonNullable: false, emptyObjectsUnknown: true }));
const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => `  "${operationId}": "${method.toUpperCase()} ${path}",`),
);
const text = [
  "// Written by `make gen` from docs/openapi.json; change the daemon's code that it comes from.",
  types.trimEnd(),
  "",
  "/** Method and path of every operation. */",
  "export const ROUTES = {",
  ...routes,
  "} as const satisfies Record<keyof operations, string>;",
  "",
].join("\n");

const fresh = readFileSync(target, { encoding: "utf8", flag: "a+" }) === text;
if (!fresh && process.argv.includes("--check")) {
  console.error("sdks/typescript/src/openapi.ts is not fresh, run `make gen`");
  process.exit(1);
}
if (!fresh) {
  writeFileSync(target, text);
  console.log("wrote sdks/typescript/src/openapi.ts");
}
