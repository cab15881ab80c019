/**
 * Requests to one daemon: the token, problems as errors, and retries.
 *
 * Requests that the daemon postponed (429, 503) or did not answer are retried, unless a second try could repeat an
 * effect. Delays grow, have jitter, and honour `Retry-After`.
 */
import {
  DaemonUnreachable,
  NotADaemon,
  problemOf,
  Problem,
  type ProblemDetails,
  type SandboxAgentError,
  WrongUsage,
} from "./errors.js";
import { type operations, ROUTES } from "./openapi.js";
import { VERSION } from "./version.js";

export type Operation = keyof operations;

export interface HttpOptions {
  baseUrl: string;
  token?: string | undefined;
  /** Another `fetch`, e.g. one that goes through a proxy. */
  fetch?: typeof globalThis.fetch | undefined;
  /** How often a request is retried (default: 5). */
  maxRetries?: number | undefined;
  /** How long a stream tries to reconnect before it gives up, in milliseconds (default: 60,000). */
  reconnectTimeoutMs?: number | undefined;
  /** How long a connection may be silent before a stream reconnects, in milliseconds (default: 45,000). */
  silenceTimeoutMs?: number | undefined;
  /** Receives warnings, e.g. that the daemon has another version (default: `console.warn`). */
  onWarning?: ((message: string) => void) | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** For calls that concern one machine, if several daemons share the log. */
export interface NodeOptions extends CallOptions {
  /** The node that the request is meant for; other nodes refuse it (default: any). */
  node?: string | undefined;
}

/** The body of a request: `BodyInit`, a name that projects without the types of browsers do not have. */
export type Content = NonNullable<RequestInit["body"]>;

/** The parts of a request, before it is sent. */
export interface Call extends NodeOptions {
  path?: Record<string, string>;
  query?: object | undefined;
  headers?: Record<string, string>;
  /** A JSON body. */
  body?: object | undefined;
  /** Any other body, with its media type in `headers`. */
  content?: Content;
}

/** Query and signal are passed in one object, but sent separately. */
export function parted<Query extends CallOptions>({ signal, ...query }: Query) {
  return { query, signal };
}

/** The daemon sends a ping every 15 seconds. */
const SILENCE_MS = 45_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
const LONGEST_RETRY_AFTER_MS = 30_000;

/** Operations that may be carried out twice: reads, and those that lead to the same state. Messages have a key. */
const REPEATABLE: ReadonlySet<Operation> = new Set([
  "agents.install",
  "sessions.update",
  "sessions.cancel",
  "sessions.terminate",
  "sessions.suspend",
  "sessions.send_message",
  "sessions.stream_message",
  "sessions.run_command",
  "sessions.compact",
  "processes.configure",
  "processes.stop",
  "processes.kill",
  "processes.resize",
]);

export class Http {
  readonly baseUrl: string;
  readonly reconnectTimeoutMs: number;
  readonly silenceTimeoutMs: number;
  /** How the daemon that this program started has ended, if it has: it will not come back. */
  daemonEnded: () => string | null = () => null;
  readonly #token: string | undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #maxRetries: number;
  readonly #warn: (message: string) => void;
  #comparedVersions = false;

  constructor(options: HttpOptions) {
    this.baseUrl = checkedAddress(options.baseUrl);
    this.#token = checkedToken(options.token);
    // Browsers insist that `fetch` is called on the window.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#maxRetries = options.maxRetries ?? 5;
    this.reconnectTimeoutMs = options.reconnectTimeoutMs ?? 60_000;
    this.silenceTimeoutMs = options.silenceTimeoutMs ?? SILENCE_MS;
    this.#warn = options.onWarning ?? ((message) => console.warn(`sandbox-agent: ${message}`));
  }

  async json<Answer>(operation: Operation, call: Call = {}): Promise<Answer> {
    return this.#tried(operation, call, async () => this.decoded(await this.once(operation, call), call.signal));
  }

  async decoded<Answer>(answer: Response, signal?: AbortSignal): Promise<Answer> {
    const text = await textOf(answer, this.baseUrl, signal);
    try {
      return JSON.parse(text) as Answer;
    } catch {
      throw new NotADaemon(`${this.baseUrl} did not answer like a sandbox-agent daemon: ${text.slice(0, 200)}`);
    }
  }

  /** For operations without a response body. */
  async done(operation: Operation, call: Call = {}): Promise<void> {
    const answer = await this.send(operation, call);
    await answer.body?.cancel();
  }

  /** Send a request, with retries. Returns a successful response. */
  async send(operation: Operation, call: Call): Promise<Response> {
    return this.#tried(operation, call, () => this.once(operation, call));
  }

  async #tried<Result>(operation: Operation, call: Call, work: () => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        this.checkDaemon(error);
        if (tries >= this.#maxRetries || !isRetryable(operation, error)) throw error;
        await pause(waitAfter(tries, error), call.signal);
      }
    }
  }

  /** Throws if a request failed because the daemon that this program started has ended. */
  checkDaemon(error: unknown): void {
    const how = this.daemonEnded();
    if (how === null || !(error instanceof DaemonUnreachable)) return;
    throw new DaemonUnreachable(`the daemon that this program started has ended (${how})`, { cause: error });
  }

  /** Send a request once. */
  async once(operation: Operation, call: Call): Promise<Response> {
    const [method, template] = split(ROUTES[operation]);
    const url = this.baseUrl + filled(template, call.path ?? {}) + queryOf(queryWithNode(call));
    const init: RequestInit = { method, headers: this.#headers(call), signal: call.signal ?? null };
    const body = call.content ?? (call.body === undefined ? undefined : JSON.stringify(call.body, finite));
    if (body !== undefined) init.body = body;
    // Node requires this for a body that is a stream.
    if (typeof ReadableStream !== "undefined" && body instanceof ReadableStream) Object.assign(init, { duplex: "half" });
    let answer: Response;
    try {
      answer = await this.#fetch(url, init);
    } catch (error) {
      call.signal?.throwIfAborted();
      throw new DaemonUnreachable(`no answer from ${this.baseUrl}: ${reasonOf(error)}; is the daemon running there?`, {
        cause: error,
      });
    }
    this.#compareVersions(answer.headers.get("x-sandbox-agent-version"));
    if (!answer.ok) throw await problemFrom(answer, this.baseUrl, call.signal);
    return answer;
  }

  /** The address of a WebSocket. A browser's cannot send headers, so the token is in the query. */
  socketUrl(operation: Operation, path: Record<string, string>, node?: string): string {
    return this.socketAddress(filled(split(ROUTES[operation])[1], path), node);
  }

  /** The same for a path that is not an operation's. */
  socketAddress(path: string, node?: string): string {
    return this.baseUrl.replace(/^http/, "ws") + path + queryOf({ access_token: this.#token, node });
  }

  #headers(call: Call): Record<string, string> {
    const headers: Record<string, string> = { ...call.headers };
    if (this.#token !== undefined) headers["authorization"] = `Bearer ${this.#token}`;
    if (call.body !== undefined) headers["content-type"] = "application/json";
    // A browser sends its own name, and a custom header would cause a preflight request.
    if (isNode()) headers["user-agent"] = `sandbox-agent-typescript/${VERSION}`;
    return headers;
  }

  #compareVersions(theirs: string | null): void {
    if (theirs === null || this.#comparedVersions) return;
    this.#comparedVersions = true;
    if (theirs === VERSION) return;
    this.#warn(`the daemon is version ${theirs}, this client is ${VERSION}: something may not work`);
  }
}

/** JSON has neither NaN nor infinity: the null in their place could remove a limit. */
function finite(name: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new WrongUsage(`${name} is ${value}, which JSON cannot express`);
}

function checkedAddress(baseUrl: string): string {
  let url: URL | null = null;
  try {
    url = new URL(baseUrl);
  } catch {
    // Reported below, with an example.
  }
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:") || url.search || url.hash) {
    throw new WrongUsage(`baseUrl is ${JSON.stringify(baseUrl)}: it should look like http://127.0.0.1:2468`);
  }
  return url.href.replace(/\/+$/, "");
}

function checkedToken(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  // The content of a file ends with a newline, which a header cannot contain.
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new WrongUsage("token must be printable characters without spaces; if it was read from a file, use `.trim()`");
}

function split(route: string): [method: string, path: string] {
  const [method = "", path = ""] = route.split(" ");
  return [method, path];
}

function filled(template: string, values: Record<string, string>): string {
  return template.replace(/{(\w+)}/g, (_, name: string) => {
    const value = values[name];
    // `fetch` resolves dots, even encoded ones, and servers decode a slash before they split the path: the request
    // would go to another resource, such as the session.
    if (typeof value !== "string" || ["", ".", ".."].includes(value) || value.includes("/")) {
      const shown = value === undefined ? "missing" : JSON.stringify(value);
      throw new WrongUsage(`${name} is ${shown}: it must be an id, a string that is not empty and has no slash`);
    }
    return encodeURIComponent(value);
  });
}

function queryWithNode({ query, node }: Call): object | undefined {
  return node === undefined ? query : { ...query, node };
}

function queryOf(values: object = {}): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

/** The body of a response. One that is cut off is an error like a missing response. */
async function textOf(answer: Response, baseUrl: string, signal?: AbortSignal): Promise<string> {
  try {
    return await answer.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new DaemonUnreachable(`the connection to ${baseUrl} was lost: ${reasonOf(error)}`, { cause: error });
  }
}

async function problemFrom(answer: Response, baseUrl: string, signal?: AbortSignal): Promise<SandboxAgentError> {
  const retryAfter = secondsOf(answer.headers.get("retry-after"));
  const body = await textOf(answer, baseUrl, signal);
  try {
    const details = JSON.parse(body) as ProblemDetails;
    if (typeof details.type === "string" && typeof details.detail === "string") {
      return problemOf(answer.status === 401 ? withHint(details) : details, retryAfter);
    }
  } catch {
    // Not a daemon: a proxy in front of it, or another server.
  }
  const start = `${baseUrl} answered with status ${answer.status}`;
  if ([502, 503, 504].includes(answer.status)) {
    return new DaemonUnreachable(`${start}: the daemon behind it cannot be reached`);
  }
  return new NotADaemon(`${start}: it is not a sandbox-agent daemon`);
}

function withHint(details: ProblemDetails): ProblemDetails {
  return { ...details, detail: `${details.detail}: give the daemon's token, as in connect({ baseUrl, token })` };
}

/** `Retry-After` is seconds or a date. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}

function isRetryable(operation: Operation, error: unknown): boolean {
  if (error instanceof DaemonUnreachable) {
    return wasRefused(error) || ROUTES[operation].startsWith("GET ") || REPEATABLE.has(operation);
  }
  return isPutOff(error) && (error.retryAfter ?? 0) * 1000 <= LONGEST_RETRY_AFTER_MS;
}

/** The daemon refused before doing anything, and asked for a retry. */
export function isPutOff(error: unknown): error is Problem {
  return error instanceof Problem && (error.status === 429 || error.status === 503);
}

/** Nothing listened there, so nothing was done. Only Node reports this. */
function wasRefused(error: DaemonUnreachable): boolean {
  const failure = error.cause as { cause?: { code?: string } } | undefined;
  return failure?.cause?.code === "ECONNREFUSED";
}

/** How long to wait before the next try: what the daemon asks for, otherwise longer each time, with jitter. */
export function waitAfter(tries: number, error: unknown): number {
  const asked = error instanceof Problem && error.retryAfter !== null ? error.retryAfter * 1000 : 0;
  const growing = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS);
  return asked + growing * (0.5 + Math.random() / 2);
}

/** Wait, at most until it is woken up; the signal ends it. */
export async function pause(milliseconds: number, signal?: AbortSignal, woken?: Promise<void>): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    }
    signal?.addEventListener("abort", done);
    void woken?.then(done);
  });
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? String(error);
}

export function isNode(): boolean {
  return typeof process !== "undefined" && typeof process.versions?.node === "string";
}
