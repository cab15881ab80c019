/** A stand-in for E2B's cloud: the types of its SDK, and real processes of this machine. Used when there is no `E2B_API_KEY`. */
import { randomUUID } from "node:crypto";
import { CommandExitError, type SandboxOpts } from "e2b";
import type { E2bSandbox, E2bSdk } from "sandbox-agentd/e2b";
import { Machine } from "../machine.js";

export class StandIn implements E2bSdk {
  readonly sandboxes: StandInSandbox[] = [];

  async create(options: SandboxOpts): Promise<StandInSandbox> {
    const sandbox = new StandInSandbox(options);
    this.sandboxes.push(sandbox);
    return sandbox;
  }

  async connect(sandboxId: string): Promise<StandInSandbox> {
    const found = this.sandboxes.find((sandbox) => sandbox.sandboxId === sandboxId);
    if (found === undefined || found.machine.state === "gone") throw new Error(`Paused sandbox ${sandboxId} not found`);
    if (found.machine.state === "frozen") found.machine.thaw();
    return found;
  }

  list(options: { query?: { metadata?: Record<string, string> } } = {}): ReturnType<E2bSdk["list"]> {
    const wanted = Object.entries(options.query?.metadata ?? {});
    const found = this.sandboxes.filter(
      ({ machine, settings }) => machine.state !== "gone" && wanted.every(([name, value]) => settings.metadata?.[name] === value),
    );
    return { hasNext: true, nextItems: async () => found };
  }
}

export class StandInSandbox implements E2bSandbox {
  readonly sandboxId: string = randomUUID();
  readonly machine = new Machine();

  constructor(readonly settings: SandboxOpts) {}

  readonly commands = {
    run: async (command: string, options: { envs?: Record<string, string>; timeoutMs?: number } = {}) => {
      const ran = await this.machine.run(command, options.envs, options.timeoutMs);
      if (ran.exitCode !== 0) throw new CommandExitError(ran);
      return ran;
    },
  };

  readonly files = {
    read: async (path: string) => (await this.machine.read(path)).toString(),
    write: (path: string, data: ArrayBuffer) => this.machine.write(path, new Uint8Array(data)),
  };

  /** As in E2B's debug mode. */
  getHost(port: number): string {
    return `localhost:${port}`;
  }

  async pause(): Promise<boolean> {
    this.machine.freeze();
    return true;
  }

  async kill(): Promise<boolean> {
    this.machine.delete();
    return true;
  }
}
