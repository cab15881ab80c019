/** The part of Docker's Engine API that sandboxes need, over the engine's Unix socket. */
import { request } from "node:http";
import { SandboxAgentError } from "./errors.js";
import type { Deadline } from "./deadline.js";
import { pause } from "./http.js";

/** The version of Docker 20.10; newer engines speak it, too. */
const API = "/v1.41";
const POLL_MS = 100;

/** The engine answered with an error, or not at all. */
export class EngineRefused extends SandboxAgentError {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** What is read of an inspected container. */
export interface Container {
  readonly State: { readonly Status: string };
  readonly NetworkSettings: {
    readonly Ports?: Record<string, readonly { readonly HostPort: string }[] | null>;
  };
}

export class Engine {
  constructor(readonly socket: string) {}

  container(name: string, deadline: Deadline): Promise<Container | null> {
    return this.#found(`/containers/${encodeURIComponent(name)}/json`, deadline);
  }

  /** Create a container; false if its name is taken. */
  async create(name: string, settings: object, deadline: Deadline): Promise<boolean> {
    const path = `/containers/create?name=${encodeURIComponent(name)}`;
    return (await this.#ask("POST", path, deadline, JSON.stringify(settings), [409])).status !== 409;
  }

  async start(name: string, deadline: Deadline): Promise<void> {
    await this.#ask("POST", `/containers/${encodeURIComponent(name)}/start`, deadline);
  }

  /** End its first process with SIGTERM, and after these seconds with SIGKILL. */
  async stop(name: string, seconds: number, deadline: Deadline): Promise<void> {
    await this.#ask("POST", `/containers/${encodeURIComponent(name)}/stop?t=${seconds}`, deadline, undefined, [404]);
  }

  /** Remove a container. If another program is removing it, wait until it is gone. */
  async remove(name: string, deadline: Deadline): Promise<void> {
    const path = `/containers/${encodeURIComponent(name)}?force=true`;
    for (;;) {
      const expected = deadline.hasPassed ? [404] : [404, 409];
      if ((await this.#ask("DELETE", path, deadline, undefined, expected)).status !== 409) return;
      await pause(POLL_MS);
    }
  }

  /** Unpack an archive into a container. */
  async put(name: string, folder: string, archive: Uint8Array, deadline: Deadline): Promise<void> {
    const path = `/containers/${encodeURIComponent(name)}/archive?path=${encodeURIComponent(folder)}`;
    await this.#ask("PUT", path, deadline, archive);
  }

  /** A file of a container, in an archive. */
  async get(name: string, file: string, deadline: Deadline): Promise<Buffer> {
    const path = `/containers/${encodeURIComponent(name)}/archive?path=${encodeURIComponent(file)}`;
    return (await this.#ask("GET", path, deadline)).body;
  }

  /** The last lines that a container has printed. */
  async logs(name: string, lines: number, deadline: Deadline): Promise<string> {
    const path = `/containers/${encodeURIComponent(name)}/logs?stdout=true&stderr=true&tail=${lines}`;
    return unframed((await this.#ask("GET", path, deadline)).body);
  }

  /** Whether a volume exists. */
  async hasVolume(name: string, deadline: Deadline): Promise<boolean> {
    return (await this.#found<object>(`/volumes/${encodeURIComponent(name)}`, deadline)) !== null;
  }

  /** Create a volume, or keep the one that there is. */
  async createVolume(name: string, labels: Record<string, string>, deadline: Deadline): Promise<void> {
    await this.#ask("POST", "/volumes/create", deadline, JSON.stringify({ Name: name, Labels: labels }));
  }

  async removeVolume(name: string, deadline: Deadline): Promise<void> {
    await this.#ask("DELETE", `/volumes/${encodeURIComponent(name)}`, deadline, undefined, [404]);
  }

  async #found<Answer>(path: string, deadline: Deadline): Promise<Answer | null> {
    const { status, body } = await this.#ask("GET", path, deadline, undefined, [404]);
    return status === 404 ? null : (JSON.parse(body.toString()) as Answer);
  }

  /** The answer; an error is thrown unless its code is expected. */
  async #ask(
    method: string,
    path: string,
    deadline: Deadline,
    content?: string | Uint8Array,
    expected: readonly number[] = [],
  ): Promise<{ status: number; body: Buffer }> {
    const answer = await this.#send(method, path, deadline.left, content);
    if (answer.status < 400 || expected.includes(answer.status)) return answer;
    throw new EngineRefused(answer.status, `docker answered ${answer.status}: ${wordsOf(answer.body)}`);
  }

  #send(
    method: string,
    path: string,
    timeout: number,
    content?: string | Uint8Array,
  ): Promise<{ status: number; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => reject(new EngineRefused(0, `docker does not answer at ${this.socket}: ${why}`));
      const headers: Record<string, string | number> = {};
      if (content !== undefined) {
        headers["content-type"] = typeof content === "string" ? "application/json" : "application/x-tar";
        headers["content-length"] = Buffer.byteLength(content);
      }
      const signal = AbortSignal.timeout(timeout);
      const asked = request({ socketPath: this.socket, path: API + path, method, headers, signal }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("error", (error) => fail(error.message));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces) }));
      });
      asked.on("error", (error) => fail(error.message));
      asked.end(content);
    });
  }
}

function wordsOf(body: Buffer): string {
  try {
    return (JSON.parse(body.toString()) as { message?: string }).message ?? "no message";
  } catch {
    return body.toString().slice(0, 200);
  }
}

/** Output without a terminal comes in frames: a byte for the stream, three zeros, the length, and the content. */
function unframed(body: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 8 <= body.length; ) {
    const end = at + 8 + body.readUInt32BE(at + 4);
    pieces.push(body.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(pieces).toString();
}
