/**
 * A stand-in for `@cloudflare/sandbox` in a Worker without containers: a Durable Object with the same methods, whose container
 * is a process of this machine behind the address in `MACHINES`.
 */
import { DurableObject } from "cloudflare:workers";
import type { ExecOptions, ExecResult } from "@cloudflare/sandbox";
import type { CloudflareSandbox } from "sandbox-agentd/cloudflare";

interface Env {
  readonly MACHINES: string;
}

export class Sandbox extends DurableObject<Env> implements CloudflareSandbox {
  exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    return this.#ask("exec", { command, env: options.env, timeout: options.timeout });
  }

  readFile(path: string): Promise<{ content: string }> {
    return this.#ask("read", { path });
  }

  containerFetch(request: Request, port: number): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(`http://127.0.0.1:${port}${pathname}${search}`, request));
  }

  async destroy(): Promise<void> {
    await this.#ask("destroy", {});
  }

  async #ask<Answer>(verb: string, body: object): Promise<Answer> {
    const url = `${this.env.MACHINES}/${this.ctx.id.name ?? this.ctx.id}/${verb}`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }
}

export function getSandbox(namespace: DurableObjectNamespace<Sandbox>, id: string): DurableObjectStub<Sandbox> {
  return namespace.get(namespace.idFromName(id));
}
