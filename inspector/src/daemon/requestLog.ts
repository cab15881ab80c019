/** Everything that the page sent, for the debug panel. The token is never in it. */
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
  /** A file was sent: the body only tells how large it was. */
  readonly file?: boolean;
  readonly authorized: boolean;
  /** Null while it is under way, and when nobody answered. */
  readonly status: number | null;
  readonly milliseconds: number | null;
  readonly answer: string | null;
  readonly failure: string | null;
  readonly stream: boolean;
  /** The page asks this again and again. */
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

  end(id: number, outcome: Partial<Pick<LoggedRequest, "status" | "answer" | "failure">>): void {
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

/** The request as a command for a shell; the token is named, not told. */
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
