/** `SandboxAgent.start({ sandbox })`: a daemon in a sandbox of a provider. */
import type { StartOptions } from "./daemon.js";
import { Deadline } from "./deadline.js";
import { DaemonNotStarted, WrongUsage } from "./errors.js";
import { pause } from "./http.js";
import { randomHex } from "./ids.js";

/** A place where sandboxes run. `sandbox-agentd/docker`, `/e2b`, `/daytona`, `/vercel`, `/cloudflare` and `/local` have one each. */
export interface SandboxProvider {
  /** For messages, e.g. `e2b`. */
  readonly name: string;
  /**
   * Create the sandbox of this name, or find and resume it, and start the daemon in it unless it is running.
   * If this fails, a sandbox that was created for it is gone.
   */
  start(request: SandboxRequest): Promise<Sandbox>;
}

export interface SandboxRequest {
  readonly name: string;
  /** The name was just generated, so there is nothing to find. */
  readonly isTemporary: boolean;
  /** Working directory of the daemon; the provider's default if absent. */
  readonly cwd: string | undefined;
  /** Variables for the daemon and its agents. A daemon that is already running keeps those it was started with. */
  readonly env: Readonly<Record<string, string>>;
  /** More flags of `sandbox-agent server`. */
  readonly flags: readonly string[];
  readonly deadline: Deadline;
}

/** A sandbox in which the daemon listens. */
export interface Sandbox {
  readonly baseUrl: string;
  readonly token: string;
  /** How to send requests to it, where the address is not enough. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Created by this start: if the daemon does not answer, it is removed again. */
  readonly isNew: boolean;
  /** Throws if the daemon has ended while its first answer is awaited, and says why. */
  check?(): Promise<void>;
  /** Stop it and keep its files. Absent where the provider cannot. */
  pause?(): Promise<void>;
  /** Delete it with its files. */
  kill(): Promise<void>;
}

/** Time for a sandbox to be created, for the daemon to be copied into it and to start. */
const START_MS = 300_000;
/** Time to delete a sandbox after a failure, which is reported in any case. */
const CLEAN_UP_MS = 60_000;
const POLL_MS = 200;
const ASK_MS = 10_000;
/** As in Python: the name becomes part of paths and of names of other things. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;

export interface StartedSandbox {
  readonly name: string;
  readonly isTemporary: boolean;
  readonly sandbox: Sandbox;
}

export async function startSandbox(provider: SandboxProvider, options: StartOptions): Promise<StartedSandbox> {
  if (options.command !== undefined || options.dataDir !== undefined) {
    throw new WrongUsage("`command` and `dataDir` are for a daemon on this machine: give them to local(), or leave out `sandbox`");
  }
  const isTemporary = options.name === undefined;
  const name = options.name ?? `sandbox-agent-${randomHex(6)}`;
  if (!NAME.test(name)) {
    throw new WrongUsage(
      `name is ${JSON.stringify(name)}: it has 1 to 64 characters of A-Z a-z 0-9 . _ - and does not start with a dot`,
    );
  }
  const deadline = new Deadline(options.startTimeoutMs ?? START_MS);
  const { cwd, env = {}, flags = [] } = options;
  const sandbox = await provider.start({ name, isTemporary, cwd, env, flags, deadline });
  await removedIfItFails(sandbox, () => healthy(sandbox, `${provider.name} sandbox ${name}`, deadline));
  return { name, isTemporary, sandbox };
}

/** Do something with a sandbox. If that fails and the sandbox is new, nobody will need it. */
export async function removedIfItFails<Result>(
  sandbox: Pick<Sandbox, "isNew" | "kill">,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!sandbox.isNew) throw error;
    try {
      await new Deadline(CLEAN_UP_MS).wait(sandbox.kill(), "deleting the sandbox");
    } catch (failure) {
      throw new DaemonNotStarted(
        `${messageOf(error)}\nThe sandbox could not be deleted either, so delete it yourself: ${messageOf(failure)}`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** Wait until the daemon answers at its public address. */
async function healthy(sandbox: Sandbox, where: string, deadline: Deadline): Promise<void> {
  const send = sandbox.fetch ?? globalThis.fetch;
  let last = "no answer";
  while (!deadline.hasPassed) {
    try {
      const asked = send(`${sandbox.baseUrl}/v1/health`, { signal: AbortSignal.timeout(Math.min(ASK_MS, deadline.left)) });
      const answer = await deadline.wait(asked, "the first request");
      const text = await deadline.wait(answer.text(), "the first answer");
      if (answer.ok) return;
      last = `status ${answer.status}: ${text.slice(0, 200)}`;
    } catch (error) {
      last = messageOf(error);
    }
    await sandbox.check?.();
    await pause(Math.min(POLL_MS, deadline.left));
  }
  throw new DaemonNotStarted(
    `the daemon in ${where} does not answer at ${sandbox.baseUrl} within ${deadline.milliseconds / 1000} s: ${last}`,
  );
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
