import { defineConfig } from "vitest/config";

// A provider may take minutes to create a sandbox. One file at a time, because all stand-ins are this machine.
export default defineConfig({ test: { include: ["*/*.test.ts"], testTimeout: 300_000, hookTimeout: 60_000, fileParallelism: false } });
