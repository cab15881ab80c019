/**
 * Streams that survive a lost connection and a restart of the daemon.
 *
 * The daemon's log numbers every event. A stream remembers the number of the last one it handed out and, when the
 * connection is lost, asks for what follows: nothing is lost, and nothing is delivered twice.
 */
import { createParser } from "eventsource-parser";
import { DaemonUnreachable, NotADaemon } from "./errors.js";
import type { Event } from "./events.js";
import { type Call, type Http, isPutOff, type Operation, pause, waitAfter } from "./http.js";

export interface Frame {
  /** The number of an event. A frame without one is not in the log. */
  readonly id: number | null;
  /** The frame's name, if it has one. */
  readonly name: string | null;
  /** Empty if the frame only reports the position of the stream, or is a ping. */
  readonly data: string;
}

/** What a stream reports about its connection. */
export type StreamConnection =
  | { readonly state: "open" }
  | {
      readonly state: "waiting";
      /** Why there is no connection; null when the daemon ended it. */
      readonly error: unknown;
      /** When the next try begins, in milliseconds since 1970. */
      readonly retryAt: number;
      /** Try again now. */
      readonly retry: () => void;
    };

export interface StreamOptions {
  /** Called when a connection opens, and when one was lost or could not be made. */
  onConnection?: ((connection: StreamConnection) => void) | undefined;
  /** Whether a new connection begins with what the lost one missed (default: true). */
  resume?: boolean | undefined;
}

/**
 * The frames of a stream, each once. It ends when the caller stops reading, or when the daemon ends the stream;
 * after a lost connection it reconnects.
 */
export async function* follow(http: Http, operation: Operation, call: Call, options: StreamOptions & { after?: number | undefined } = {}): AsyncGenerator<Frame> {
  const { after, onConnection, resume = true } = options;
  let last = after;
  let tries = 0;
  let failingSince: number | null = null;
  for (;;) {
    const connection = linked(call.signal);
    let failure: unknown = null;
    try {
      const headers = { ...call.headers, ...(last === undefined ? {} : { "last-event-id": String(last) }) };
      const asked = http.once(operation, { ...call, headers, signal: connection.signal });
      const answer = await within(http.silenceTimeoutMs, connection, asked);
      if (answer.status === 204) return;
      checkStream(answer, http);
      onConnection?.({ state: "open" });
      for await (const frame of framesOf(answer, connection, http.silenceTimeoutMs)) {
        tries = 0;
        failingSince = null;
        if (frame.name === "end") return;
        // A message that is streamed again starts from its first event: skip those already seen.
        if (frame.id !== null && last !== undefined && frame.id <= last) continue;
        if (resume) last = frame.id ?? last;
        if (frame.data !== "") yield frame;
      }
    } catch (error) {
      call.signal?.throwIfAborted();
      http.checkDaemon(error);
      if (!(error instanceof DaemonUnreachable) && !isPutOff(error)) throw error;
      failure = error;
    } finally {
      connection.close();
    }
    failingSince ??= performance.now();
    if (performance.now() - failingSince > http.reconnectTimeoutMs) {
      const seconds = Math.round(http.reconnectTimeoutMs / 1000);
      throw new DaemonUnreachable(`the stream broke, and ${http.baseUrl} did not come back within ${seconds} s`, {
        cause: failure,
      });
    }
    const wait = waitAfter(tries, failure);
    let retry: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (retry = resolve));
    onConnection?.({ state: "waiting", error: failure, retryAt: Date.now() + wait, retry });
    await pause(wait, call.signal, woken);
    tries += 1;
  }
}

/** The frames of one connection, without reconnecting. */
export async function* followOnce(http: Http, operation: Operation, call: Call): AsyncGenerator<Frame> {
  const connection = linked(call.signal);
  try {
    const asked = http.once(operation, { ...call, signal: connection.signal });
    const answer = await within(http.silenceTimeoutMs, connection, asked);
    checkStream(answer, http);
    for await (const frame of framesOf(answer, connection, http.silenceTimeoutMs)) {
      if (frame.data !== "") yield frame;
    }
  } catch (error) {
    call.signal?.throwIfAborted();
    throw error;
  } finally {
    connection.close();
  }
}

/** The events of a session after an offset, for as long as the caller reads, or until the session has ended. */
export async function* followSession(
  http: Http,
  sessionId: string,
  options: { offset?: number | undefined; includeRaw?: boolean | undefined; signal?: AbortSignal | undefined } & Pick<
    StreamOptions,
    "onConnection"
  >,
): AsyncGenerator<Event> {
  const { offset, includeRaw, signal, onConnection } = options;
  const call = { path: { session_id: sessionId }, query: { offset, includeRaw }, signal };
  for await (const frame of follow(http, "sessions.events_sse", call, { after: offset, onConnection })) {
    const event = eventOf(frame);
    yield event;
    if (event.type === "session.ended") return;
  }
}

export function eventOf(frame: Frame): Event {
  return JSON.parse(frame.data) as Event;
}

/** Whether a turn is over with this event: it ended, its session did, or its message was withdrawn before it began. */
export function endsTurn(event: Event, turnId: string): boolean {
  if (event.type === "session.ended") return true;
  if (event.type === "turn.ended") return event.data.turn_id === turnId;
  if (event.type !== "item.completed" || event.data.item.kind !== "status") return false;
  const [status, fact] = event.data.item.content ?? [];
  if (status?.type !== "status" || status.label !== "queue" || fact?.type !== "json") return false;
  const { turn_id, state } = fact.json as { turn_id?: string; state?: string };
  return turn_id === turnId && state === "withdrawn";
}

interface Connection {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  close(): void;
}

/** A signal of our own that also aborts with the caller's. */
function linked(outer: AbortSignal | undefined): Connection {
  const control = new AbortController();
  const pass = (): void => control.abort(outer?.reason);
  if (outer?.aborted) pass();
  outer?.addEventListener("abort", pass);
  return {
    signal: control.signal,
    abort: (reason) => control.abort(reason),
    close() {
      outer?.removeEventListener("abort", pass);
      control.abort();
    },
  };
}

async function* framesOf(answer: Response, connection: Connection, silence: number): AsyncGenerator<Frame> {
  if (!answer.body) return;
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  const ready: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => ready.push({ id: numberOf(id), name: event ?? null, data }),
    // Where a stream begins, before there is an event: the parser drops a frame that has an id alone.
    onComment: (comment) => ready.push({ id: numberOf(/^position (\d+)$/.exec(comment)?.[1]), name: null, data: "" }),
  });
  for (;;) {
    const next = reader.read().catch((error: unknown) => {
      throw new DaemonUnreachable("the connection was lost", { cause: error });
    });
    const { done, value } = await within(silence, connection, next);
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    yield* ready.splice(0);
  }
}

function checkStream(answer: Response, { baseUrl }: Http): void {
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) return;
  throw new NotADaemon(`${baseUrl} did not answer with a stream of events: it is not a sandbox-agent daemon`);
}

/** Wait for the daemon. Only our own wait is limited: a slow caller does not mean a dead connection. */
async function within<Value>(silence: number, connection: Connection, work: Promise<Value>): Promise<Value> {
  const silent = new DaemonUnreachable("the connection was silent for too long");
  const timer = setTimeout(() => connection.abort(silent), silence);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function numberOf(id: string | undefined): number | null {
  return id === undefined || !/^\d+$/.test(id) ? null : Number(id);
}
