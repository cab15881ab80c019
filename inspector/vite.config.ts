/** Builds the page into the Python package, from where the daemon serves it and the wheel carries it. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { licenses } from "./licenses.ts";
import { precompress } from "./precompress.ts";
import { strictStyles } from "./strictStyles.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const SHARED = /sdks[\\/]\w+[\\/]src[\\/]|inspector[\\/]src[\\/](daemon|parts|state)[\\/]|node_modules[\\/](react|react-dom|scheduler|@tanstack|eventsource-parser)[\\/]/;

export default defineConfig({
  base: "./",
  plugins: [strictStyles(), licenses(), precompress()],
  resolve: {
    alias: [
      // Smaller than the published file: see fonts/make.sh.
      { find: "./files/geist-latin-wght-normal.woff2", replacement: here("fonts/geist-latin.woff2") },
      { find: /^sandbox-agentd$/, replacement: here("../sdks/typescript/src/index.ts") },
      // What is shown of a conversation is the React package's own.
      { find: /^chat\//, replacement: here("../sdks/react/src/") },
    ],
    // The packages that those two need are installed here.
    dedupe: ["react", "react-dom", "@tanstack/react-virtual", "highlight.js", "marked", "eventsource-parser"],
  },
  build: {
    outDir: here("../src/sandbox_agent/http/ui"),
    emptyOutDir: true,
    target: "es2022",
    // From here on browsers know `light-dark()`: each colour is written once.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The page's policy allows no `data:` anywhere.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Compressing takes longer than everything else, as it should.
      checks: { pluginTimings: false },
      // What several parts of the page share is loaded at first anyway: one file compresses better than twenty.
      output: { codeSplitting: { groups: [{ name: "shared", test: SHARED, minShareCount: 2 }] } },
    },
  },
  server: { port: 5173, fs: { allow: [here("..")] } },
});
