/** E2B sandboxes, through E2B's own SDK: `npm install e2b`, and `E2B_API_KEY` in the environment. */
import { readFile } from "node:fs/promises";
import { type CommandResult, Sandbox as E2bApi, type SandboxConnectOpts, type SandboxListOpts, type SandboxOpts } from "e2b";
import type { Deadline } from "../deadline.js";
import { type InstallOptions, launch, PORT, type Ran, type Shell } from "../launch.js";
import { removedIfItFails, type Sandbox, type SandboxProvider, type SandboxRequest } from "../sandbox.js";

export interface E2bOptions extends InstallOptions {
  /** A template, ideally one that contains `sandbox-agent` (default: E2B's base template). */
  template?: string | undefined;
  /** How long the sandbox lives, in milliseconds (default: an hour). Then a named sandbox is paused, and others are deleted. */
  timeoutMs?: number | undefined;
  /** More settings for new sandboxes, as E2B's SDK takes them. */
  create?: Omit<SandboxOpts, "timeoutMs" | "template"> | undefined;
  /** The daemon's port in the sandbox (default: 2468). */
  port?: number | undefined;
  /** Something else that has the types of E2B's SDK, e.g. for tests. */
  sdk?: E2bSdk | undefined;
}

/** The part of a sandbox in E2B's SDK that we use. */
export interface E2bSandbox extends Pick<E2bApi, "sandboxId" | "getHost" | "pause" | "kill"> {
  readonly commands: { run(command: string, options?: { envs?: Record<string, string>; timeoutMs?: number }): Promise<CommandResult> };
  readonly files: {
    read(path: string): Promise<string>;
    write(path: string, data: ArrayBuffer, options?: { requestTimeoutMs?: number }): Promise<unknown>;
  };
}

/** The part of the class `Sandbox` in E2B's SDK that we use. */
export interface E2bSdk {
  create(options: SandboxOpts): Promise<E2bSandbox>;
  connect(sandboxId: string, options?: SandboxConnectOpts): Promise<E2bSandbox>;
  list(options?: SandboxListOpts): { readonly hasNext: boolean; nextItems(): Promise<{ sandboxId: string }[]> };
}

const LABEL = "sandbox-agent";
const LIFETIME_MS = 3_600_000;

export function e2b(options: E2bOptions = {}): SandboxProvider {
  const sdk: E2bSdk = options.sdk ?? E2bApi;
  return { name: "e2b", start: (request) => start(sdk, options, request) };
}

async function start(sdk: E2bSdk, options: E2bOptions, request: SandboxRequest): Promise<Sandbox> {
  const { deadline } = request;
  const found = request.isTemporary ? null : await find(sdk, options, request);
  const sandbox = found ?? (await create(sdk, options, request));
  const isNew = found === null;
  const kill = async (): Promise<void> => void (await sandbox.kill());
  const pause = async (): Promise<void> => void (await sandbox.pause());
  const port = options.port ?? PORT;
  return removedIfItFails({ isNew, kill }, async () => {
    const { token } = await launch(shellOf(sandbox, deadline), request, { ...options, port });
    return { baseUrl: addressOf(sandbox.getHost(port)), token, isNew, pause, kill };
  });
}

async function find(sdk: E2bSdk, options: E2bOptions, { name, deadline }: SandboxRequest): Promise<E2bSandbox | null> {
  const listed = sdk.list({ query: { metadata: { [LABEL]: name }, state: ["running", "paused"] } });
  const [first] = await deadline.wait(listed.nextItems(), "looking for the sandbox");
  if (first === undefined) return null;
  // Connecting resumes a paused sandbox.
  const timeoutMs = options.timeoutMs ?? LIFETIME_MS;
  return deadline.wait(sdk.connect(first.sandboxId, { timeoutMs }), "connecting to the sandbox");
}

function create(sdk: E2bSdk, options: E2bOptions, { name, isTemporary, deadline }: SandboxRequest): Promise<E2bSandbox> {
  const settings: SandboxOpts = {
    lifecycle: { onTimeout: isTemporary ? "kill" : "pause" },
    ...options.create,
    timeoutMs: options.timeoutMs ?? LIFETIME_MS,
    metadata: { ...options.create?.metadata, [LABEL]: name },
  };
  if (options.template !== undefined) settings.template = options.template;
  return deadline.wait(sdk.create(settings), "creating the sandbox", (late) => late.kill());
}

function shellOf(sandbox: E2bSandbox, deadline: Deadline): Shell {
  return {
    run: (command, env) => sandbox.commands.run(command, { envs: { ...env }, timeoutMs: deadline.left }).catch(exitCodeOf),
    readFile: (path) => sandbox.files.read(path),
    upload: async (file, path) => {
      const { buffer, byteOffset, byteLength } = await readFile(file);
      const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
      await sandbox.files.write(path, bytes, { requestTimeoutMs: deadline.left });
    },
  };
}

/** E2B's SDK throws when a command fails. */
function exitCodeOf(error: unknown): Ran {
  if (typeof (error as Partial<Ran>).exitCode === "number") return error as Ran;
  throw error;
}

function addressOf(host: string): string {
  // E2B's debug mode serves on this machine, without TLS.
  return host.startsWith("localhost:") ? `http://${host}` : `https://${host}`;
}
