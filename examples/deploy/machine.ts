/**
 * A stand-in for the machine of a cloud sandbox: a folder of this machine as its home, and real processes.
 *
 * The stand-ins of the providers are built on it, so the daemon is really copied, started, frozen, and asked. Nothing
 * separates it from this machine.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The single file, as built by `make dist`. */
export const BINARY = process.env.SANDBOX_AGENT_BINARY ?? fileURLToPath(new URL("../../dist/sandbox-agent-linux-x64", import.meta.url));

export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export class Machine {
  readonly home: string = mkdtempSync(join(tmpdir(), "sandbox-"));
  /** Every command line that was run, as the provider's logs would show it. */
  readonly commands: string[] = [];
  state: "running" | "frozen" | "off" | "gone" = "running";

  /** Run a command line to its end, in an environment that has nothing of this program's. */
  run(command: string, env: Record<string, string> = {}, timeout = 0): Promise<Ran> {
    if (this.state !== "running") return Promise.reject(new Error(`the sandbox is ${this.state}`));
    this.commands.push(command);
    return new Promise((resolve) => {
      const settings = { cwd: this.home, env: { PATH: "/usr/bin:/bin", HOME: this.home, ...env }, timeout };
      execFile("sh", ["-c", command], settings, (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ exitCode, stdout, stderr });
      });
    });
  }

  read(path: string): Promise<Buffer> {
    return readFile(path);
  }

  write(path: string, content: Uint8Array | string): Promise<void> {
    return writeFile(path, content);
  }

  copy(file: string, path: string): Promise<void> {
    return copyFile(file, path);
  }

  /** Stop every process where it is, as a pause that keeps the memory does. */
  freeze(): void {
    this.#signal("SIGSTOP");
    this.state = "frozen";
  }

  thaw(): void {
    this.#signal("SIGCONT");
    this.state = "running";
  }

  /** Processes end at once; files stay. */
  turnOff(): void {
    this.#signal("SIGKILL");
    this.state = "off";
  }

  turnOn(): void {
    this.state = "running";
  }

  delete(): void {
    this.#signal("SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
    this.state = "gone";
  }

  #signal(signal: NodeJS.Signals): void {
    const file = join(this.home, ".local/share/sandbox-agent/daemon.json");
    if (!existsSync(file)) return;
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
    try {
      process.kill(-pid, signal);
    } catch {
      // It has ended already.
    }
  }
}

/** A port that is free on this machine, which all stand-ins share. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}
