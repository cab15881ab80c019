/** The tests run on the sources, the SDK's too. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const sdk = fileURLToPath(new URL("../typescript/src/index.ts", import.meta.url));

export default defineConfig({
  resolve: { alias: { "sandbox-agentd": sdk } },
  test: { include: ["test/*.test.{ts,tsx}"], setupFiles: ["test/globals.ts"], testTimeout: 60_000 },
});
