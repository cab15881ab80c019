/** A real daemon in a process of its own, with folders of its own; it can be killed and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SandboxAgent, type ConnectOptions } from "sandbox-agentd";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PYTHON = process.env.SANDBOX_AGENT_PYTHON ?? join(ROOT, ".venv/bin/python");

/** How to run the daemon from this checkout. */
export const COMMAND = [PYTHON, "-P", "-m", "sandbox_agent"] as const;
export const TOKEN = "token-of-the-tests";

/** A folder that is gone when the test process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-agent-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class TestDaemon {
  readonly folder = temporaryFolder();
  port = 0;
  #process: ChildProcess | null = null;

  static async running(): Promise<TestDaemon> {
    const daemon = new TestDaemon();
    await daemon.start();
    return daemon;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  connect(options: Partial<ConnectOptions> = {}): Promise<SandboxAgent> {
    return SandboxAgent.connect({ baseUrl: this.baseUrl, token: TOKEN, ...options });
  }

  /** On the same port as before, if there was one. */
  async start(): Promise<void> {
    const [program, ...before] = COMMAND;
    const place = ["--port", String(this.port), "--data-dir", join(this.folder, "data")];
    const flags = ["server", ...place, "--parent-pid", String(process.pid)];
    const child = spawn(program, [...before, ...flags], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, SANDBOX_AGENT_TOKEN: TOKEN },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = child;
    this.port = await new Promise((resolve, reject) => {
      let said = "";
      // Read to the end, or the daemon would wait for a reader.
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /listening on http:\/\/\S+:(\d+)/.exec(said);
        if (found) resolve(Number(found[1]));
      });
      child.on("exit", () => reject(new Error(`the daemon did not start: ${said}`)));
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** SIGKILL: what a crash looks like from outside. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}
