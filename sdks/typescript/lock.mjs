/**
 * Takes the addresses out of package-lock.json: where packages come from is for the machine to say, not for the project.
 *
 * For the package in this folder, or in the one that is given.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = `${process.argv[2] ?? fileURLToPath(new URL(".", import.meta.url))}/package-lock.json`;
const lock = JSON.parse(readFileSync(file, "utf8"));
for (const entry of Object.values(lock.packages)) {
  // A folder of this checkout is not an address.
  if (!entry.resolved?.startsWith("file:") && !entry.link) delete entry.resolved;
  delete entry.funding;
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
