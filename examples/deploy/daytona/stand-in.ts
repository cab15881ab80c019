/** A stand-in for Daytona's cloud: the types of its SDK, and real processes of this machine. Used when there is no `DAYTONA_API_KEY`. */
import { type AddressInfo } from "node:net";
import { createServer, request, type Server } from "node:http";
import { DaytonaNotFoundError } from "@daytonaio/sdk";
import type { DaytonaSandbox, DaytonaSdk } from "sandbox-agentd/daytona";
import { Machine } from "../machine.js";

type CreateParams = Parameters<DaytonaSdk["create"]>[0];

export class StandIn implements DaytonaSdk {
  readonly sandboxes: StandInSandbox[] = [];

  async create(params: CreateParams): Promise<StandInSandbox> {
    const sandbox = new StandInSandbox(params.name ?? "");
    this.sandboxes.push(sandbox);
    return sandbox;
  }

  async get(name: string): Promise<StandInSandbox> {
    const found = this.sandboxes.find((sandbox) => sandbox.name === name && sandbox.machine.state !== "gone");
    if (found === undefined) throw new DaytonaNotFoundError(`Sandbox with ID or name ${name} not found`);
    return found;
  }
}

export class StandInSandbox implements DaytonaSandbox {
  readonly machine = new Machine();
  readonly previewToken = "token-of-the-proxy";
  #proxy: Server | null = null;

  constructor(readonly name: string) {}

  get state(): "started" | "stopped" {
    return this.machine.state === "running" ? "started" : "stopped";
  }

  readonly process = {
    /** Without a shell, and with both streams in one, as Daytona does it. */
    executeCommand: async (command: string, _cwd?: string, env?: Record<string, string>, timeout = 0) => {
      const { exitCode, stdout, stderr } = await this.machine.run(`exec ${command}`, env, timeout * 1000);
      return { exitCode, result: stderr + stdout };
    },
  };

  readonly fs = {
    downloadFile: (path: string) => this.machine.read(path),
    uploadFile: (file: string, path: string) => this.machine.copy(file, path),
  };

  async start(): Promise<void> {
    this.machine.turnOn();
  }

  async stop(): Promise<void> {
    this.machine.turnOff();
    this.#proxy?.close();
  }

  async delete(): Promise<void> {
    this.machine.delete();
    this.#proxy?.close();
  }

  /** A proxy that lets nobody through without its own token. */
  async getPreviewLink(port: number): Promise<{ sandboxId: string; url: string; token: string }> {
    const proxy = createServer((asked, answer) => {
      if (asked.headers["x-daytona-preview-token"] !== this.previewToken) {
        answer.writeHead(401).end("Unauthorized");
        return;
      }
      const { url = "/", method = "GET", headers } = asked;
      const passed = request({ host: "127.0.0.1", port, path: url, method, headers }, (said) => {
        answer.writeHead(said.statusCode ?? 502, said.headers);
        said.pipe(answer);
      });
      passed.on("error", () => answer.writeHead(502).end());
      asked.pipe(passed);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    this.#proxy?.close();
    this.#proxy = proxy;
    const { port: front } = proxy.address() as AddressInfo;
    return { sandboxId: this.name, url: `http://127.0.0.1:${front}`, token: this.previewToken };
  }
}
