/** Requests to one daemon. Each is written to the log; each failure is a `Refused` or an `Unreachable`. */
import { refusalOf, Unreachable } from "./problem";
import { RequestLog } from "./requestLog";

export interface Address {
  /** Without a slash at its end, e.g. `http://127.0.0.1:2468`. */
  readonly endpoint: string;
  readonly token: string | null;
}

interface Options {
  body?: unknown;
  /** Bytes to upload; their type is the content type. */
  blob?: Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  stream?: boolean;
  /** Asked again and again: the log keeps the latest only. */
  poll?: boolean;
}

/** A file of the daemon's machine, or the start of it. */
export interface FileContent {
  readonly blob: Blob;
  /** What `If-Match` takes. */
  readonly etag: string;
  /** Of the whole file. */
  readonly size: number;
}

export class Daemon {
  constructor(
    readonly address: Address,
    readonly log: RequestLog = new RequestLog(),
  ) {}

  get<Answer>(path: string): Promise<Answer> {
    return this.json<Answer>("GET", path);
  }

  post<Answer>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.json<Answer>("POST", path, { body, headers });
  }

  patch<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.json<Answer>("PATCH", path, { body });
  }

  delete(path: string): Promise<void> {
    return this.json<void>("DELETE", path);
  }

  poll<Answer>(path: string): Promise<Answer> {
    return this.json<Answer>("GET", path, { poll: true });
  }

  put<Answer>(path: string, blob: Blob, headers?: Record<string, string>): Promise<Answer> {
    return this.json<Answer>("PUT", path, { blob, headers });
  }

  upload<Answer>(path: string, blob: Blob): Promise<Answer> {
    return this.json<Answer>("POST", path, { blob });
  }

  /** A stream of server-sent events; it must be read or aborted. */
  async open(path: string, options: Options & { method?: string } = {}): Promise<Response> {
    const { method = "GET", ...rest } = options;
    const headers = { Accept: "text/event-stream", ...rest.headers };
    return (await this.#send(method, path, { ...rest, headers, stream: true })).response;
  }

  async blob(path: string): Promise<Blob> {
    const { response, id } = await this.#send("GET", path, {});
    const blob = await response.blob();
    this.log.end(id, { answer: `${blob.size} bytes of ${blob.type || "unknown type"}` });
    return blob;
  }

  /** The first bytes of a file, at most so many. */
  async file(path: string, most: number, signal?: AbortSignal): Promise<FileContent> {
    const { response, id } = await this.#send("GET", path, { headers: { Range: `bytes=0-${most - 1}` }, signal });
    const blob = await response.blob();
    this.log.end(id, { answer: `${blob.size} bytes` });
    const whole = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "");
    return { blob, etag: response.headers.get("ETag") ?? "", size: whole ? Number(whole[1]) : blob.size };
  }

  /** A browser's WebSocket sends no headers: the token goes along in the address, which the log does not show. */
  socket(path: string): WebSocket {
    const { endpoint, token } = this.address;
    const url = endpoint.replace(/^http/, "ws") + path;
    const id = this.log.begin({ method: "GET", url, headers: {}, body: null, authorized: token !== null, stream: true });
    const socket = new WebSocket(token === null ? url : `${url}?access_token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.log.end(id, { status: 101 }));
    socket.addEventListener("error", () => this.log.end(id, { failure: "no connection" }));
    return socket;
  }

  async json<Answer>(method: string, path: string, options: Options = {}): Promise<Answer> {
    const { response, id } = await this.#send(method, path, options);
    const text = await response.text();
    this.log.end(id, { answer: text });
    return (text ? JSON.parse(text) : undefined) as Answer;
  }

  async #send(method: string, path: string, options: Options): Promise<{ response: Response; id: number }> {
    const { endpoint, token } = this.address;
    const url = endpoint + path;
    const headers: Record<string, string> = { ...options.headers };
    let body: string | null = null;
    if (options.body !== undefined) {
      body = JSON.stringify(options.body);
      headers["Content-Type"] = "application/json";
    }
    if (options.blob) headers["Content-Type"] = options.blob.type || "application/octet-stream";
    const shown = options.blob ? `<${options.blob.size} bytes>` : body;
    const stream = options.stream ?? false;
    const id = this.log.begin({ method, url, headers, body: shown, file: options.blob !== undefined, authorized: token !== null, stream, poll: options.poll });
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers: token === null ? headers : { ...headers, Authorization: `Bearer ${token}` },
        body: options.blob ?? body,
        signal: options.signal,
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
      });
    } catch (error) {
      this.log.end(id, { failure: options.signal?.aborted ? "aborted" : "no answer" });
      throw new Unreachable("the daemon does not answer", { cause: error });
    }
    this.log.end(id, { status: response.status });
    if (response.ok) return { response, id };
    const refusal = await refusalOf(response);
    this.log.end(id, { answer: JSON.stringify(refusal.problem, null, 2) });
    throw refusal;
  }
}

/** A path below a session. */
export function sessionPath(sessionId: string, ...rest: string[]): string {
  return ["/v1/sessions", sessionId, ...rest].map((part, index) => (index ? encodeURIComponent(part) : part)).join("/");
}

/** A key that makes it safe to send a message again. `randomUUID` is missing on plain HTTP. */
export function idempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A path with what is asked for; what is undefined is left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
