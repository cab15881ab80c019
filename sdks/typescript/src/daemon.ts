/**
 * Starts a daemon as a child of this program. For Node only; browsers can bundle this file because Node's modules
 * are imported by computed names.
 */
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import type { Handlers } from "./answers.js";
import { DaemonNotStarted } from "./errors.js";
import type { HttpOptions } from "./http.js";
import { randomHex } from "./ids.js";
import { lastLines } from "./lastLines.js";
import type { SandboxProvider } from "./sandbox.js";

export interface StartOptions extends Omit<HttpOptions, "baseUrl" | "token">, Handlers {
  /** Where the daemon runs, e.g. `e2b()` of `sandbox-agentd/e2b` (default: on this machine). */
  sandbox?: SandboxProvider | undefined;
  /**
   * The name of the sandbox. It is found and resumed if it exists, and outlives `close()`. Without a name you get a new
   * sandbox, which `close()` deletes.
   */
  name?: string | undefined;
  /** The program and its first arguments (default: `["sandbox-agent"]`). A wrapper must `exec` the daemon. */
  command?: readonly string[] | undefined;
  /** The data directory (default: the daemon's own default). */
  dataDir?: string | undefined;
  /** Working directory of the daemon, and of sessions that do not set their own. */
  cwd?: string | undefined;
  /** Environment variables, in addition to those of this program or of the sandbox. */
  env?: Record<string, string> | undefined;
  /** Further flags of `sandbox-agent server`. */
  flags?: readonly string[] | undefined;
  /** How long the start may take, in milliseconds (default: 60,000; in a sandbox 300,000). */
  startTimeoutMs?: number | undefined;
}

export interface Daemon {
  readonly baseUrl: string;
  readonly token: string;
  readonly pid: number | undefined;
  /** The exit code or signal with which it ended; null while it runs. */
  ended(): string | null;
  stop(): Promise<void>;
}

/** How long the daemon may take to stop before it is killed. */
const STOP_MS = 10_000;

type Child = ChildProcessByStdio<null, null, Readable>;

export async function startDaemon(options: StartOptions): Promise<Daemon> {
  const { spawn } = await nodeModule<typeof import("node:child_process")>("child_process");
  const token = randomHex(32);
  const [program = "sandbox-agent", ...before] = options.command ?? [];
  // The daemon watches its parent and stops without it, however this program ends.
  const ours = ["--port", "0", "--parent-pid", String(process.pid), "--drain-seconds", "0"];
  const flags = ["server", ...ours, ...(options.flags ?? [])];
  if (options.dataDir !== undefined) flags.push("--data-dir", options.dataDir);
  // The token is passed in the environment, which only its owner can read. The other two variables would override it.
  const { SANDBOX_AGENT_TOKEN_FILE: _file, SANDBOX_AGENT_NO_TOKEN: _none, ...inherited } = process.env;
  const env = { ...inherited, ...options.env, SANDBOX_AGENT_TOKEN: token };
  const child = spawn(program, [...before, ...flags], {
    cwd: options.cwd,
    env,
    stdio: ["ignore", "ignore", "pipe"],
    // Ctrl-C in this program must not reach the daemon.
    detached: true,
  });
  const baseUrl = await listening(child, program, options.startTimeoutMs ?? 60_000);
  letGo(child);
  const ended = () => child.signalCode ?? (child.exitCode === null ? null : `exit code ${child.exitCode}`);
  return { baseUrl, token, pid: child.pid, ended, stop: () => stop(child) };
}

/** The address that the daemon prints when it listens. */
function listening(child: Child, program: string, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new DaemonNotStarted(`${why}\n${lastLines(output)}`.trim()));
    };
    const timer = setTimeout(() => fail(`the daemon did not start within ${limit / 1000} s:`), limit);
    child.on("error", (error) => fail(cannotRun(program, error)));
    child.on("close", () => fail("the daemon did not start:"));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      // Keep reading after the start, or the daemon would block on a full pipe.
      output = (output + text).slice(-10_000);
      const address = /^listening on (\S+)$/m.exec(output)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}

function cannotRun(program: string, error: Error): string {
  return (
    `cannot run ${program} (${error.message}): put it on the PATH (\`make setup\` of a checkout makes .venv/bin/sandbox-agent), or say where it is: ` +
    'SandboxAgent.start({ command: ["/path/to/sandbox-agent"] })'
  );
}

/** Lets this program exit while the daemon runs, which then stops too. */
function letGo(child: Child): void {
  child.unref();
  (child.stderr as unknown as { unref(): void }).unref();
}

async function stop(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

/** A module of Node, imported by a computed name so that bundlers for browsers do not look for it. */
async function nodeModule<Module>(name: string): Promise<Module> {
  const specifier = `node:${name}`;
  return (await import(/* @vite-ignore */ /* webpackIgnore: true */ specifier)) as Module;
}
