/**
 * A turn: one prompt and everything until the agent is idle again.
 *
 * The message is sent at once. Then iterate over the turn's events or over the text of the answer, or await it for the
 * result; permissions and questions are answered by the handlers in the meantime.
 */
import {
  type Handlers,
  type OnPermission,
  type OnQuestion,
  labelsOf,
  permissionBody,
  type Request,
  requestId,
  unlessSettled,
} from "./answers.js";
import type { ErrorEntry, Transcript } from "./entries.js";
import { AnswerNeeded, DaemonUnreachable, TurnFailed, TurnTimeout, WrongUsage } from "./errors.js";
import type { Event, ItemDelta, PermissionRequested, QuestionRequested, StopReason, Usage } from "./events.js";
import type { CallOptions, Http } from "./http.js";
import type { PermissionList, QuestionList, SentMessage } from "./operations.js";
import { Reading } from "./reading.js";
import { endsTurn, followSession } from "./stream.js";
import { type Toolbox, type ToolCallList, toolRequestIn } from "./tools.js";
import { TranscriptFold } from "./transcript.js";

const ANSWER_TIMEOUT_MS = 60_000;
const CANCEL_TIMEOUT_MS = 10_000;

export interface TurnOptions extends Handlers, CallOptions {
  /** Milliseconds that the turn may take. Then it is cancelled, and `TurnTimeout` is thrown. */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds that a permission, a question or a call of a tool may wait if nothing here answers it; default:
   * 60,000. Then `AnswerNeeded` is thrown, and the turn continues. Null waits for another client to answer.
   */
  answerTimeoutMs?: number | null | undefined;
  /** Whether `await` and `text()` throw `TurnFailed` for a turn that failed (default: true). */
  throwOnError?: boolean | undefined;
}

export interface TurnResult {
  readonly turnId: string;
  /** Null if the message was withdrawn, or the session ended before the turn did. */
  readonly stopReason: StopReason | null;
  /** The agent's text, without its sub-agents; messages are separated by an empty line. */
  readonly text: string;
  readonly usage: Usage | null;
  readonly durationMs: number | null;
  /** The errors that the agent reported. */
  readonly errors: readonly ErrorEntry[];
  readonly transcript: Transcript;
}

/** Stop reasons that are thrown, and their message if the agent gave none. */
const FAILURES: Partial<Record<StopReason, string>> = {
  error: "the agent reported an error",
  limit: "the turn reached a limit",
  outcome_unknown: "the daemon was restarted during the turn: what the agent did last is not known",
};

export class Turn implements AsyncIterable<Event>, PromiseLike<TurnResult> {
  /** Resolves when the message is durable, which is before the agent has seen it. */
  readonly sent: Promise<SentMessage>;
  readonly #http: Http;
  readonly #sessionId: string;
  readonly #options: TurnOptions;
  readonly #toolbox: Toolbox;
  readonly #saw: (event: Event) => void;
  readonly #began = performance.now();
  readonly #fold = new TranscriptFold();
  /** Requests that need an answer. */
  readonly #waiting = new Map<string, Request>();
  #offset: number;
  #isTaken = false;
  #isStarted = false;
  #isOver = false;
  #isTimed = false;
  #isRead = false;
  #result: Promise<TurnResult> | null = null;

  /** For `Session.prompt`. The turn's events come after `offset`. */
  constructor(
    http: Http,
    sessionId: string,
    sent: Promise<SentMessage>,
    options: TurnOptions & { offset: number; toolbox: Toolbox; saw: (event: Event) => void },
  ) {
    this.sent = sent;
    // Whoever reads the turn gets its error. Until then it is not an unhandled one, which would end the program.
    sent.catch(() => {});
    this.#http = http;
    this.#sessionId = sessionId;
    this.#offset = options.offset;
    this.#options = options;
    this.#toolbox = options.toolbox;
    this.#saw = options.saw;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    return this.#begin();
  }

  /** The agent's answer as it streams: no thinking, no tools, no sub-agents. */
  async *text(): AsyncGenerator<string, void, undefined> {
    const calls = new Set<string>();
    const inner = new Set<string>();
    for await (const { type, data } of this.#begin()) {
      if (type === "item.started") {
        const { item_id, kind, parent_id } = data.item;
        if (kind === "tool_call") calls.add(item_id);
        // An item whose parent is a call belongs to a sub-agent.
        if (parent_id !== null && calls.has(parent_id)) inner.add(item_id);
      }
      if (type === "item.delta" && isAnswer(data) && !inner.has(data.item_id)) yield data.delta;
    }
    await this.#checked();
  }

  then<Done = TurnResult, Failed = never>(
    done?: ((result: TurnResult) => Done | PromiseLike<Done>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    this.#result ??= this.#collect();
    return this.#result.then(done, failed);
  }

  /** Cancel this turn only; its last events still arrive. A queued turn is withdrawn. */
  async cancel(options: CallOptions = {}): Promise<void> {
    const { turnId } = await this.sent;
    if (this.#isOver) return;
    const call = { path: { session_id: this.#sessionId }, query: { turnId }, ...options };
    await this.#http.done("sessions.cancel", call);
  }

  async #collect(): Promise<TurnResult> {
    // After a loop over its events or its text, a turn can still be awaited for its result.
    if (!this.#isOver) for await (const event of this.#begin()) void event;
    return this.#checked();
  }

  async #checked(): Promise<TurnResult> {
    const result = resultOf((await this.sent).turnId, this.#fold.transcript);
    const { stopReason, transcript } = result;
    const fallback = stopReason === null ? undefined : FAILURES[stopReason];
    if (this.#options.throwOnError === false || stopReason === null || fallback === undefined) return result;
    const error = result.errors.at(-1);
    const limit = stopReason === "limit" ? limitOf(transcript) : null;
    throw new TurnFailed(error?.message ?? limit ?? fallback, error?.code ?? null, stopReason, transcript);
  }

  #begin(): AsyncGenerator<Event, void, undefined> {
    if (this.#isRead) {
      throw new WrongUsage("a turn can be read once: keep its events, or read the session's with `session.events()`");
    }
    this.#isRead = true;
    return this.#read();
  }

  /** Yields the events. After an error, or a loop that was left, reading can continue: no event is yielded twice. */
  async *#read(): AsyncGenerator<Event, void, undefined> {
    const reading = new Reading(this.#options.signal);
    const cancelled = this.#limitTime(reading);
    try {
      yield* this.#events(reading);
    } catch (error) {
      this.#result = null;
      if (error instanceof TurnTimeout) await cancelled();
      throw error;
    } finally {
      this.#isRead = this.#isOver;
      reading.close();
    }
  }

  async *#events(reading: Reading): AsyncGenerator<Event, void, undefined> {
    const { turnId } = await reading.unlessStopped(this.sent);
    this.#isTaken = true;
    for (const request of this.#waiting.values()) this.#ask(request, reading);
    const options = { offset: this.#offset, signal: reading.signal };
    for await (const event of followSession(this.#http, this.#sessionId, options)) {
      this.#saw(event);
      this.#isStarted ||= event.type === "turn.started" && event.data.turn_id === turnId;
      this.#isOver = endsTurn(event, turnId);
      this.#offset = event.sequence;
      if (!this.#isStarted && !this.#isOver) continue;
      const asked = this.#take(event);
      // Handlers answer beside the stream: agents may ask for several things at once.
      if (asked && this.#hasHandler(asked)) this.#ask(asked, reading);
      yield event;
      if (this.#isOver) break;
      // A loop that answers requests itself has done so by now.
      if (asked && !this.#hasHandler(asked)) this.#ask(asked, reading);
    }
    await reading.answered();
  }

  /** Keep track of pending requests; returns the request that an event contains. */
  #take(event: Event): Request | null {
    this.#fold.apply(event);
    switch (event.type) {
      case "permission.requested":
      case "question.requested":
        this.#waiting.set(requestId(event.data), event.data);
        return event.data;
      case "item.started": {
        const request = toolRequestIn(event.data.item);
        if (request) this.#waiting.set(request.call_id, request);
        return request;
      }
      case "item.completed":
        this.#waiting.delete(toolRequestIn(event.data.item)?.call_id ?? "");
        return null;
      case "permission.resolved":
        this.#waiting.delete(event.data.permission_id);
        return null;
      case "question.resolved":
        this.#waiting.delete(event.data.question_id);
        return null;
      default:
        return null;
    }
  }

  /** Returns a function that waits until a turn that timed out is cancelled. */
  #limitTime(reading: Reading): () => Promise<void> {
    const { timeoutMs } = this.#options;
    let cancelled: Promise<void> = Promise.resolve();
    // The timeout applies once: the rest of a cancelled turn can be read.
    if (timeoutMs !== undefined && !this.#isTimed) {
      reading.after(this.#began + timeoutMs - performance.now(), () => {
        this.#isTimed = true;
        cancelled = this.#giveUp();
        cancelled.catch(() => {});
        reading.stop(new TurnTimeout(`the turn took longer than ${timeoutMs} ms`, this.#fold.transcript));
      });
    }
    return () =>
      cancelled.catch((error: Error) => {
        const words = `the turn took longer than ${timeoutMs} ms, and could not be cancelled: ${error.message}`;
        throw new TurnTimeout(words, this.#fold.transcript, { cause: error });
      });
  }

  async #giveUp(): Promise<void> {
    if (this.#isTaken) return this.cancel({ signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS) });
    // The request may still arrive, too late to be waited for.
    this.sent.then(() => this.cancel()).catch(() => {});
    throw new DaemonUnreachable("the daemon has not taken the message yet");
  }

  #hasHandler(request: Request): boolean {
    if ("call_id" in request) return this.#toolbox.has(request.name);
    return Boolean("permission_id" in request ? this.#options.onPermission : this.#options.onQuestion);
  }

  #ask(request: Request, reading: Reading): void {
    if (this.#hasHandler(request)) {
      // A turn that was cancelled does not wait for a function that runs.
      if ("call_id" in request) return reading.background(this.#toolbox.answer(this.#http, this.#sessionId, request));
      return reading.track(this.#answer(request));
    }
    const { answerTimeoutMs = ANSWER_TIMEOUT_MS } = this.#options;
    if (answerTimeoutMs === null) return;
    reading.after(answerTimeoutMs, async () => {
      if (!(await this.#stillWaits(request))) return;
      reading.stop(new AnswerNeeded(needOf(request, answerTimeoutMs), request, this.#fold.transcript));
    });
  }

  async #answer(request: PermissionRequested | QuestionRequested): Promise<void> {
    const { onPermission, onQuestion } = this.#options;
    // Skip requests that a rule has decided, and past ones of a turn that is read again.
    if (!(await this.#stillWaits(request))) return;
    if ("permission_id" in request) await this.#decide(request, onPermission!);
    else await this.#reply(request, onQuestion!);
  }

  async #stillWaits(request: Request): Promise<boolean> {
    const path = { session_id: this.#sessionId };
    if ("permission_id" in request) {
      const list = await unlessSettled(this.#http.json<PermissionList>("permissions.list", { path }));
      return list?.permissions.some((pending) => pending.permission_id === request.permission_id) ?? false;
    }
    if ("call_id" in request) {
      const list = await unlessSettled(this.#http.json<ToolCallList>("tool_calls.list", { path }));
      return list?.toolCalls.some((pending) => pending.call_id === request.call_id) ?? false;
    }
    const list = await unlessSettled(this.#http.json<QuestionList>("questions.list", { path }));
    return list?.questions.some((pending) => pending.question_id === request.question_id) ?? false;
  }

  async #decide(request: PermissionRequested, onPermission: OnPermission): Promise<void> {
    const path = { session_id: this.#sessionId, permission_id: request.permission_id };
    const body = permissionBody(await onPermission(request));
    await unlessSettled(this.#http.done("permissions.reply", { path, body }));
  }

  async #reply(request: QuestionRequested, onQuestion: OnQuestion): Promise<void> {
    const path = { session_id: this.#sessionId, question_id: request.question_id };
    const answer = await onQuestion(request);
    const sent =
      answer === null
        ? this.#http.done("questions.reject", { path })
        : this.#http.done("questions.reply", { path, body: { answers: labelsOf(answer) } });
    await unlessSettled(sent);
  }
}

/** A piece of the agent's answer. Thinking has a visibility, and is not part of it. */
function isAnswer({ kind, role, visibility }: ItemDelta): boolean {
  return kind === "message" && role === "assistant" && visibility === undefined;
}

function needOf(request: Request, milliseconds: number): string {
  const [wanted, remedy, reply] = remedyOf(request);
  return (
    `the agent waits for ${wanted}, and nobody answered within ${milliseconds} ms: ${remedy}, answer with ` +
    `\`session.${reply}\`, or let it wait for another client with \`answerTimeoutMs: null\``
  );
}

function remedyOf(request: Request): [wanted: string, remedy: string, reply: string] {
  const handler = (name: string) => `give \`${name}\` to \`sessions.create\` or \`prompt\``;
  if ("permission_id" in request) {
    return [`permission to use \`${request.action}\``, handler("onPermission"), "replyPermission"];
  }
  if ("question_id" in request) return [`an answer to: ${request.prompt}`, handler("onQuestion"), "replyQuestion"];
  const remedy = "give its function to `sessions.create` or `sessions.get`";
  return [`the result of your tool \`${request.name}\``, remedy, "replyToolCall"];
}

function resultOf(turnId: string, transcript: Transcript): TurnResult {
  const { entries } = transcript;
  const ended = entries.find((entry) => entry.kind === "turn_ended");
  const answers = entries.filter((entry) => entry.kind === "message").filter((message) => message.role === "assistant");
  return {
    turnId,
    stopReason: ended?.stopReason ?? null,
    text: answers.map((message) => message.text).join("\n\n"),
    usage: ended?.usage ?? null,
    durationMs: ended?.durationMs ?? null,
    errors: entries.filter((entry) => entry.kind === "error"),
    transcript,
  };
}

/** A message about the limit that was reached last. */
function limitOf({ entries }: Transcript): string | null {
  for (const entry of [...entries].reverse()) {
    if (entry.kind === "status" && entry.label === "limit") return entry.detail;
  }
  return null;
}
