/** Vercel sandboxes, through Vercel's own SDK: `npm install @vercel/sandbox`, and `VERCEL_OIDC_TOKEN` or an access token in the environment. */
import { readFile } from "node:fs/promises";
import { Sandbox as VercelApi } from "@vercel/sandbox";
import type { Deadline } from "../deadline.js";
import { type InstallOptions, launch, PORT, type Shell } from "../launch.js";
import { removedIfItFails, type Sandbox, type SandboxProvider, type SandboxRequest } from "../sandbox.js";

type CreateParams = NonNullable<Parameters<typeof VercelApi.getOrCreate>[0]>;

export interface VercelOptions extends InstallOptions {
  /** Settings for new sandboxes, as Vercel's SDK takes them: `runtime`, `resources`, `timeout`, credentials, ... */
  create?: CreateParams | undefined;
  /** The daemon's port in the sandbox (default: 2468). */
  port?: number | undefined;
  /** Something else that has the types of Vercel's SDK, e.g. for tests. */
  sdk?: VercelSdk | undefined;
}

/** The part of a sandbox in Vercel's SDK that we use. */
export interface VercelSandbox extends Pick<VercelApi, "domain" | "readFileToBuffer" | "writeFiles"> {
  runCommand(params: VercelCommand): Promise<{ exitCode: number; stdout(): Promise<string>; stderr(): Promise<string> }>;
  stop(): Promise<unknown>;
  delete(): Promise<unknown>;
}

export interface VercelCommand {
  cmd: string;
  args?: string[];
  env?: Record<string, string>;
  timeoutMs?: number;
}

/** The part of the class `Sandbox` in Vercel's SDK that we use. */
export interface VercelSdk {
  getOrCreate(params: { name: string; ports: number[]; onCreate: () => Promise<void> }): Promise<VercelSandbox>;
}

const LIFETIME_MS = 1_800_000;

export function vercel(options: VercelOptions = {}): SandboxProvider {
  const sdk: VercelSdk = options.sdk ?? VercelApi;
  return { name: "vercel", start: (request) => start(sdk, options, request) };
}

async function start(sdk: VercelSdk, options: VercelOptions, request: SandboxRequest): Promise<Sandbox> {
  const { deadline } = request;
  const port = options.port ?? PORT;
  let isNew = false;
  const settings = {
    timeout: LIFETIME_MS,
    // A stopped sandbox keeps its files if it is persistent.
    persistent: !request.isTemporary,
    ...options.create,
    name: request.name,
    ports: [port],
    onCreate: async (): Promise<void> => void (isNew = true),
  };
  const making = sdk.getOrCreate(settings);
  const sandbox = await deadline.wait(making, "creating the sandbox", async (late) => isNew && late.delete());
  const kill = async (): Promise<void> => void (await sandbox.delete());
  const pause = async (): Promise<void> => void (await sandbox.stop());
  return removedIfItFails({ isNew, kill }, async () => {
    const { token } = await launch(shellOf(sandbox, deadline), request, { ...options, port });
    return { baseUrl: sandbox.domain(port), token, isNew, pause, kill };
  });
}

function shellOf(sandbox: VercelSandbox, deadline: Deadline): Shell {
  return {
    run: async (command, env) => {
      const ran = await sandbox.runCommand({ cmd: "sh", args: ["-c", command], env: { ...env }, timeoutMs: deadline.left });
      return { exitCode: ran.exitCode, stdout: await ran.stdout(), stderr: await ran.stderr() };
    },
    readFile: async (path) => {
      const content = await sandbox.readFileToBuffer({ path });
      if (content === null) throw new Error(`there is no ${path} in the sandbox`);
      return content.toString("utf8");
    },
    upload: async (file, path) => sandbox.writeFiles([{ path, content: await readFile(file), mode: 0o755 }]),
  };
}
