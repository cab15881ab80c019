/**
 * Cloudflare sandboxes, through Cloudflare's own SDK, inside a Worker: `npm install @cloudflare/sandbox`.
 *
 * The image of the container must contain `sandbox-agent`. A container that stops loses its files, so there is no `pause()`.
 */
import { type ExecOptions, type ExecResult, getSandbox, type Sandbox as CloudflareApi, type SandboxOptions } from "@cloudflare/sandbox";
import type { Deadline } from "../deadline.js";
import { launch, PORT, quoted, type Shell } from "../launch.js";
import { removedIfItFails, type Sandbox, type SandboxProvider, type SandboxRequest } from "../sandbox.js";

export interface CloudflareOptions {
  /** The binding of the Durable Object, e.g. `env.Sandbox`. */
  namespace: DurableObjectNamespace<CloudflareApi>;
  /** More settings, as Cloudflare's SDK takes them: `sleepAfter`, `keepAlive`, ... */
  sandbox?: SandboxOptions | undefined;
  /** The daemon's port in the container (default: 2468). */
  port?: number | undefined;
}

/** The part of a sandbox in Cloudflare's SDK that we use. */
export interface CloudflareSandbox {
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  readFile(path: string): Promise<{ content: string }>;
  containerFetch(request: Request, port: number): Promise<Response>;
  destroy(): Promise<void>;
}

export function cloudflare(options: CloudflareOptions): SandboxProvider {
  return { name: "cloudflare", start: (request) => start(options, request) };
}

async function start(options: CloudflareOptions, request: SandboxRequest): Promise<Sandbox> {
  const port = options.port ?? PORT;
  // An object of this name exists as soon as it is named; its container starts with the first command.
  const sandbox: CloudflareSandbox = getSandbox(options.namespace, request.name.toLowerCase(), options.sandbox);
  const isNew = request.isTemporary;
  const kill = async (): Promise<void> => sandbox.destroy();
  return removedIfItFails({ isNew, kill }, async () => {
    const { token } = await launch(shellOf(sandbox, request.deadline), request, { port });
    const baseUrl = `http://localhost:${port}`;
    return { baseUrl, token, fetch: throughContainer(sandbox, port), isNew, kill };
  });
}

function shellOf(sandbox: CloudflareSandbox, deadline: Deadline): Shell {
  return {
    // In a shell of its own: the sandbox has one that goes on, and would stay in another directory.
    run: (command, env) => sandbox.exec(`sh -c ${quoted(command)}`, { env: { ...env }, timeout: deadline.left }),
    readFile: async (path) => (await sandbox.readFile(path)).content,
  };
}

/** The daemon is not on the internet: requests go through the Durable Object. */
function throughContainer(sandbox: CloudflareSandbox, port: number): typeof globalThis.fetch {
  return async (input, init) => {
    // A signal cannot be sent to an object, so it is kept here.
    const { signal, ...rest } = init ?? {};
    signal?.throwIfAborted();
    const answer = await sandbox.containerFetch(new Request(input as RequestInfo, rest), port);
    if (!signal || answer.body === null) return answer;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    answer.body.pipeTo(writable, { signal }).catch(() => {});
    return new Response(readable, answer);
  };
}
