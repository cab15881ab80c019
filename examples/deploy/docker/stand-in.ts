/** A stand-in for a Docker engine, which runs the image of the Dockerfile. Used when there is no `DOCKER_HOST`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PYTHON = process.env.SANDBOX_AGENT_PYTHON ?? join(ROOT, ".venv/bin/python");

export interface StandIn {
  readonly socket: string;
  /** Whether its containers run the image, and not the daemon of this checkout. */
  readonly runsImage: boolean;
  stop(): Promise<void>;
}

export async function startEngine(): Promise<StandIn> {
  const folder = mkdtempSync(join(tmpdir(), "engine-"));
  const socket = join(folder, "docker.sock");
  const program = spawn(PYTHON, ["-m", "tests.deploy.image_engine", socket], {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: ROOT },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [runs] = (await once(createInterface(program.stdout), "line")) as [string];
  return {
    socket,
    runsImage: runs === "the image",
    stop: async () => {
      const ended = once(program, "exit");
      program.stdin.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
