/** Everything the page sent, for the debug panel. It never contains the token. */
import { Observable } from "chat/state/observable";

const KEPT = 500;
const BODY_KEPT = 20_000;

export interface LoggedRequest {
  readonly id: number;
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** A file was sent: the body shows only its size. */
  readonly file?: boolean;
  readonly authorized: boolean;
  /** Null while it is pending, and if there was no response. */
  readonly status: number | null;
  readonly milliseconds: number | null;
  readonly answer: string | null;
  readonly failure: string | null;
  readonly stream: boolean;
  /** The page polls this. */
  readonly poll?: boolean;
}

export class RequestLog extends Observable<readonly LoggedRequest[]> {
  #entries: readonly LoggedRequest[] = [];
  #next = 1;

  get snapshot(): readonly LoggedRequest[] {
    return this.#entries;
  }

  begin(request: Pick<LoggedRequest, "method" | "url" | "headers" | "body" | "file" | "authorized" | "stream" | "poll">): number {
    const entry: LoggedRequest = {
      ...request,
      id: this.#next++,
      at: Date.now(),
      status: null,
      milliseconds: null,
      answer: null,
      failure: null,
    };
    const others = request.poll ? this.#entries.filter(({ poll, url }) => !poll || url !== request.url) : this.#entries;
    this.#entries = [...others.slice(-KEPT + 1), entry];
    this.changed();
    return entry.id;
  }

  end(id: number, outcome: Partial<Pick<LoggedRequest, "status" | "answer" | "failure" | "stream">>): void {
    this.#entries = this.#entries.map((entry) =>
      entry.id === id
        ? {
            ...entry,
            ...outcome,
            answer: outcome.answer?.slice(0, BODY_KEPT) ?? entry.answer,
            milliseconds: entry.milliseconds ?? Date.now() - entry.at,
          }
        : entry,
    );
    this.changed();
  }

  clear(): void {
    this.#entries = [];
    this.changed();
  }
}

/** A `fetch` that logs requests and responses. */
export function loggedFetch(log: RequestLog, { poll = false } = {}): typeof fetch {
  return async (input, init = {}) => {
    const { authorization, ...headers } = init.headers as Record<string, string>;
    const id = log.begin({
      method: init.method ?? "GET",
      url: String(input),
      headers,
      body: init.body instanceof Blob ? `<${init.body.size} bytes>` : ((init.body as string | undefined) ?? null),
      file: init.body instanceof Blob,
      authorized: authorization !== undefined,
      stream: false,
      poll,
    });
    try {
      const response = await fetch(input, { ...init, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
      log.end(id, { status: response.status });
      void answerOf(response).then((answer) => log.end(id, answer), () => undefined);
      return response;
    } catch (error) {
      log.end(id, { failure: init.signal?.aborted ? "aborted" : "no answer" });
      throw error;
    }
  };
}

/** The part of a response worth showing. Only JSON is read a second time. */
async function answerOf(response: Response): Promise<Partial<Pick<LoggedRequest, "answer" | "stream">>> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) return { stream: true };
  if (/[/+]json\b/.test(type)) return { answer: await response.clone().text() };
  const size = response.headers.get("content-length");
  return { answer: response.body ? [size && `${size} bytes`, type || "unknown type"].filter(Boolean).join(" of ") : "" };
}

/** The request as a shell command, with the name of the token variable instead of the token. */
export function asCurl(request: LoggedRequest): string {
  const parts = [`curl ${request.stream ? "-sN" : "-s"}`];
  if (request.method !== "GET") parts.push(`-X ${request.method}`);
  parts.push(quoted(request.url));
  if (request.authorized) parts.push('-H "Authorization: Bearer $SANDBOX_AGENT_TOKEN"');
  for (const [name, value] of Object.entries(request.headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.file) parts.push("--data-binary @FILE");
  else if (request.body !== null) parts.push(`-d ${quoted(request.body)}`);
  return parts.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
