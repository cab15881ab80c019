/** Daytona sandboxes, through Daytona's own SDK: `npm install @daytonaio/sdk`, and `DAYTONA_API_KEY` in the environment. */
import {
  type CreateSandboxFromImageParams,
  type CreateSandboxFromSnapshotParams,
  Daytona,
  DaytonaNotFoundError,
  type Sandbox as DaytonaApi,
} from "@daytonaio/sdk";
import type { Deadline } from "../deadline.js";
import { type InstallOptions, launch, PORT, quoted, type Shell } from "../launch.js";
import { removedIfItFails, type Sandbox, type SandboxProvider, type SandboxRequest } from "../sandbox.js";

type CreateParams = CreateSandboxFromImageParams | CreateSandboxFromSnapshotParams;

export interface DaytonaOptions extends InstallOptions {
  /** Settings for new sandboxes, as Daytona's SDK takes them: `snapshot` or `image`, `resources`, `autoStopInterval`, ... */
  create?: CreateParams | undefined;
  /** The daemon's port in the sandbox (default: 2468). */
  port?: number | undefined;
  /** Your own client of Daytona, or something else that has its types, e.g. for tests. */
  sdk?: DaytonaSdk | undefined;
}

/** The part of a sandbox in Daytona's SDK that we use. */
export interface DaytonaSandbox extends Pick<DaytonaApi, "state" | "start" | "stop" | "delete" | "getPreviewLink"> {
  readonly process: Pick<DaytonaApi["process"], "executeCommand">;
  readonly fs: {
    downloadFile(path: string, timeout?: number): Promise<Buffer>;
    uploadFile(file: string, path: string, timeout?: number): Promise<void>;
  };
}

/** The part of the class `Daytona` in its SDK that we use. */
export interface DaytonaSdk {
  create(params: CreateParams, options?: { timeout?: number }): Promise<DaytonaSandbox>;
  /** Throws a `DaytonaNotFoundError` if there is none of this name. */
  get(name: string): Promise<DaytonaSandbox>;
}

const PREVIEW_TOKEN = "x-daytona-preview-token";

export function daytona(options: DaytonaOptions = {}): SandboxProvider {
  return { name: "daytona", start: (request) => start(options.sdk ?? new Daytona(), options, request) };
}

async function start(sdk: DaytonaSdk, options: DaytonaOptions, request: SandboxRequest): Promise<Sandbox> {
  const { deadline } = request;
  const found = request.isTemporary ? null : await find(sdk, request);
  const sandbox = found ?? (await create(sdk, options, request));
  const isNew = found === null;
  const kill = (): Promise<void> => sandbox.delete();
  const pause = (): Promise<void> => sandbox.stop();
  const port = options.port ?? PORT;
  return removedIfItFails({ isNew, kill }, async () => {
    if (sandbox.state !== "started") await deadline.wait(sandbox.start(secondsOf(deadline)), "starting the sandbox");
    const { token } = await launch(shellOf(sandbox, deadline), request, { ...options, port });
    const preview = await deadline.wait(sandbox.getPreviewLink(port), "asking for the address");
    return { baseUrl: preview.url, token, fetch: throughPreview(preview.token), isNew, pause, kill };
  });
}

async function find(sdk: DaytonaSdk, { name, deadline }: SandboxRequest): Promise<DaytonaSandbox | null> {
  try {
    return await deadline.wait(sdk.get(name), "looking for the sandbox");
  } catch (error) {
    if (error instanceof DaytonaNotFoundError) return null;
    throw error;
  }
}

function create(sdk: DaytonaSdk, options: DaytonaOptions, { name, deadline }: SandboxRequest): Promise<DaytonaSandbox> {
  const settings: CreateParams = { ...options.create, name, labels: { ...options.create?.labels, "sandbox-agent": name } };
  const creating = sdk.create(settings, { timeout: secondsOf(deadline) });
  return deadline.wait(creating, "creating the sandbox", (late) => late.delete());
}

function shellOf(sandbox: DaytonaSandbox, deadline: Deadline): Shell {
  return {
    run: async (command, env) => {
      const line = `sh -c ${quoted(command)}`;
      const ran = await sandbox.process.executeCommand(line, undefined, { ...env }, secondsOf(deadline));
      return { exitCode: ran.exitCode, stdout: ran.result, stderr: "" };
    },
    readFile: async (path) => (await sandbox.fs.downloadFile(path, secondsOf(deadline))).toString("utf8"),
    upload: (file, path) => sandbox.fs.uploadFile(file, path, secondsOf(deadline)),
  };
}

/** Daytona's proxy in front of a sandbox requires its own token. */
function throughPreview(token: string): typeof globalThis.fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set(PREVIEW_TOKEN, token);
    return globalThis.fetch(input, { ...init, headers });
  };
}

function secondsOf(deadline: Deadline): number {
  return Math.ceil(deadline.left / 1000);
}
