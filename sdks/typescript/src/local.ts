/** Sandboxes on this machine: a daemon for each, with its own folder. This separates sessions by folder only. */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { startDaemon } from "./daemon.js";
import { launch, quoted, type Ran } from "./launch.js";
import type { Sandbox, SandboxProvider, SandboxRequest } from "./sandbox.js";

export interface LocalOptions {
  /** The program and its first arguments (default: `["sandbox-agent"]`). */
  command?: readonly string[] | undefined;
  /** Where named sandboxes keep their files (default: `~/.local/share/sandbox-agent/sandboxes`). */
  folder?: string | undefined;
}

/** Longer than the daemon gives its turns to finish. */
const STOP_MS = 60_000;

export function local(options: LocalOptions = {}): SandboxProvider {
  return {
    name: "local",
    start: (request) => (request.isTemporary ? temporary(request, options) : named(request, options)),
  };
}

/** Ends with this program, however that ends, and leaves nothing behind. */
async function temporary(request: SandboxRequest, options: LocalOptions): Promise<Sandbox> {
  const folder = placeOf(request.name, options);
  const { cwd, env, flags, deadline } = request;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const startTimeoutMs = deadline.left;
    const { command } = options;
    const daemon = await startDaemon({ command, dataDir: join(folder, "data"), cwd, env: { ...env }, flags, startTimeoutMs });
    const kill = async (): Promise<void> => {
      await daemon.stop();
      await rm(folder, { recursive: true, force: true });
    };
    return { baseUrl: daemon.baseUrl, token: daemon.token, isNew: true, kill };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Outlives this program, and is found by its folder. */
async function named(request: SandboxRequest, options: LocalOptions): Promise<Sandbox> {
  const folder = placeOf(request.name, options);
  const data = join(folder, "data");
  const cwd = request.cwd ?? join(folder, "work");
  const program = (options.command ?? ["sandbox-agent"]).map(quoted).join(" ");
  const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
  const pause = async (): Promise<void> => {
    const ran = await run(`${program} daemon stop --data-dir ${quoted(data)}`, {}, STOP_MS);
    if (ran.exitCode !== 0) throw new Error(`the daemon does not stop: ${ran.stderr.trim()}`);
  };
  const kill = async (): Promise<void> => {
    await pause();
    await rm(folder, { recursive: true, force: true });
  };
  const shell = {
    run: (line: string, env: Readonly<Record<string, string>>) => run(line, env, request.deadline.left),
    readFile: (path: string) => readFile(path, "utf8"),
  };
  try {
    const place = { program, dataDir: data, host: "127.0.0.1", port: 0 };
    const { endpoint, token } = await launch(shell, { ...request, cwd }, place);
    return { baseUrl: endpoint, token, isNew, pause, kill };
  } catch (error) {
    if (isNew) await kill().catch(() => rm(folder, { recursive: true, force: true }));
    throw error;
  }
}

function placeOf(name: string, options: LocalOptions): string {
  return resolve(options.folder ?? join(homedir(), ".local/share/sandbox-agent/sandboxes"), name);
}

function run(line: string, env: Readonly<Record<string, string>>, timeout: number): Promise<Ran> {
  return new Promise((resolve) => {
    const settings = { env: { ...process.env, ...env }, timeout };
    execFile("sh", ["-c", line], settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ exitCode: code, stdout, stderr: stderr || (error?.message ?? "") });
    });
  });
}
