/** A stand-in for Vercel's cloud: the types of its SDK, and real processes of this machine. Used when there are no credentials. */
import type { VercelCommand, VercelSandbox, VercelSdk } from "sandbox-agentd/vercel";
import { Machine } from "../machine.js";

export class StandIn implements VercelSdk {
  readonly sandboxes: StandInSandbox[] = [];

  async getOrCreate(params: Parameters<VercelSdk["getOrCreate"]>[0]): Promise<StandInSandbox> {
    const found = this.sandboxes.find(({ name, machine }) => name === params.name && machine.state !== "gone");
    if (found !== undefined) {
      if (found.machine.state === "off") found.machine.turnOn();
      return found;
    }
    const sandbox = new StandInSandbox(params.name, params.ports);
    this.sandboxes.push(sandbox);
    await params.onCreate();
    return sandbox;
  }
}

export class StandInSandbox implements VercelSandbox {
  readonly machine = new Machine();

  constructor(
    readonly name: string,
    readonly ports: number[],
  ) {}

  async runCommand({ cmd, args = [], env, timeoutMs }: VercelCommand): ReturnType<VercelSandbox["runCommand"]> {
    const line = ["exec", cmd, ...args.map((word) => `'${word.replaceAll("'", "'\\''")}'`)].join(" ");
    const { exitCode, stdout, stderr } = await this.machine.run(line, env, timeoutMs);
    return { exitCode, stdout: async () => stdout, stderr: async () => stderr };
  }

  async readFileToBuffer({ path }: { path: string }): Promise<Buffer | null> {
    return this.machine.read(path).catch(() => null);
  }

  async writeFiles(files: { path: string; content: string | Uint8Array }[]): Promise<void> {
    for (const { path, content } of files) await this.machine.write(path, content);
  }

  domain(port: number): string {
    if (!this.ports.includes(port)) throw new Error(`No route for port ${port}`);
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this.machine.turnOff();
  }

  async delete(): Promise<void> {
    this.machine.delete();
  }
}
