/** Writes a compressed copy beside each file of the build, once, so that the daemon never compresses while it serves. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** A font is compressed already, and what is this small gains nothing. */
const WORTH = /\.(js|css|html|svg)$/;
const SMALLEST = 300;

export function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    writeBundle({ dir = "" }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        const path = join(dir, name);
        if (!WORTH.test(name)) continue;
        const body = readFileSync(path);
        if (body.length < SMALLEST) continue;
        writeFileSync(`${path}.gz`, gzipSync(body, { level: 9, memLevel: 9 }));
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
        writeFileSync(`${path}.br`, brotliCompressSync(body, { params }));
      }
    },
  };
}
