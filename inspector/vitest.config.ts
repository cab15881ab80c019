import { defineConfig, mergeConfig } from "vitest/config";
import vite from "./vite.config.ts";

export default mergeConfig(vite, defineConfig({ test: { include: ["test/*.test.{ts,tsx}"], setupFiles: ["test/globals.ts"], testTimeout: 60_000 } }));
