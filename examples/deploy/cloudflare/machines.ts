/** The containers of the stand-in: machines that a Worker reaches over HTTP, because it cannot start processes. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BINARY, Machine } from "../machine.js";

export class Machines {
  readonly all = new Map<string, Machine>();
  readonly #server = createServer((asked, answer) => {
    this.#answer(asked).then(
      (said) => answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said)),
      (error: unknown) => answer.writeHead(500).end(String(error)),
    );
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    for (const machine of this.all.values()) machine.delete();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(asked: IncomingMessage): Promise<unknown> {
    const [, id = "", verb = ""] = (asked.url ?? "").split("/");
    const body = (await json(asked)) as { command: string; path: string; env?: Record<string, string>; timeout?: number };
    const machine = this.all.get(id) ?? (await this.#create(id));
    if (verb === "read") return { content: (await machine.read(body.path)).toString() };
    if (verb === "exec") {
      const ran = await machine.run(body.command, body.env, body.timeout);
      return { ...ran, success: ran.exitCode === 0, command: body.command, duration: 0, timestamp: "" };
    }
    machine.delete();
    this.all.delete(id);
    return {};
  }

  /** As the image of the Dockerfile is: with the daemon in it. */
  async #create(id: string): Promise<Machine> {
    const machine = new Machine();
    this.all.set(id, machine);
    const programs = join(machine.home, ".local/bin");
    await mkdir(programs, { recursive: true });
    await machine.copy(BINARY, join(programs, "sandbox-agent"));
    await chmod(join(programs, "sandbox-agent"), 0o755);
    return machine;
  }
}

async function json(asked: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const part of asked.setEncoding("utf8")) text += part as string;
  return JSON.parse(text) as unknown;
}
