/**
 * A Worker that gives each user a sandbox with a coding agent.
 *
 * `POST /NAME?session=ID` with a prompt streams the agent's answer. `DELETE /NAME` deletes the sandbox.
 */
import { Sandbox } from "@cloudflare/sandbox";
import { SandboxAgent } from "sandbox-agentd";
import { cloudflare } from "sandbox-agentd/cloudflare";

// Cloudflare runs the container of this class.
export { Sandbox };

export interface Env {
  readonly Sandbox: DurableObjectNamespace<Sandbox>;
  /** Who may use this Worker: `wrangler secret put ACCESS_TOKEN`. */
  readonly ACCESS_TOKEN: string;
  /** For the agent in the sandbox: `wrangler secret put ANTHROPIC_API_KEY`. */
  readonly ANTHROPIC_API_KEY?: string;
  /** `mock` needs no key. */
  readonly AGENT?: string;
  /** The daemon's port in the container; 2468 by default. */
  readonly PORT?: string;
}

export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    if (request.headers.get("authorization") !== `Bearer ${env.ACCESS_TOKEN}`) return new Response(null, { status: 401 });
    const url = new URL(request.url);
    const client = await SandboxAgent.start({
      sandbox: cloudflare({ namespace: env.Sandbox, port: Number(env.PORT ?? 2468) }),
      name: url.pathname.slice(1),
      env: env.ANTHROPIC_API_KEY ? { ANTHROPIC_API_KEY: env.ANTHROPIC_API_KEY } : {},
    });
    if (request.method === "DELETE") {
      await client.kill();
      return new Response(null, { status: 204 });
    }
    const id = url.searchParams.get("session");
    const session = id ? await client.sessions.get(id) : await client.sessions.create({ agent: env.AGENT ?? "claude" });
    const turn = session.prompt(await request.text());
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    context.waitUntil(write(turn.text(), writable));
    return new Response(readable, { headers: { "content-type": "text/plain; charset=utf-8", "x-session": session.id } });
  },
} satisfies ExportedHandler<Env>;

/** Writes the pieces of an answer as they arrive. */
async function write(pieces: AsyncIterable<string>, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  try {
    for await (const piece of pieces) await writer.write(encoder.encode(piece));
    await writer.close();
  } catch (error) {
    await writer.abort(error);
  }
}
