/**
 * A turn: one prompt and everything until the agent is idle again.
 *
 * The message is sent at once. Then iterate over the turn's events or over the text of the answer, or await it for the
 * result; permissions and questions are answered by the handlers in the meantime.
 */
import type { ErrorEntry, Transcript } from "./entries.js";
import { Conflict, NotFound, WrongUsage } from "./errors.js";
import type { Event, ItemDelta, Permission, Question, StopReason, Usage } from "./events.js";
import type { Http } from "./http.js";
import type { components } from "./openapi.js";
import type { PermissionList, QuestionList, SentMessage } from "./operations.js";
import { endsTurn, followSession } from "./stream.js";
import { TranscriptFold } from "./transcript.js";

export type Reply = components["schemas"]["ReplyPermissionBody"]["reply"];
/** True is `once` and false is `reject`; an object can say why. */
export type PermissionAnswer = Reply | boolean | { reply: Reply; message?: string };
/** A text to a single question; a text or the chosen labels to each of several; null refuses to answer. */
export type QuestionAnswer = string | readonly (string | readonly string[])[] | null;

export type OnPermission = (permission: Permission) => PermissionAnswer | Promise<PermissionAnswer>;
export type OnQuestion = (question: Question) => QuestionAnswer | Promise<QuestionAnswer>;

export interface Handlers {
  /** Decides what the agent may do: `once`, `always` (in this session) or `reject`. */
  onPermission?: OnPermission | undefined;
  /** Answers what the agent asks. */
  onQuestion?: OnQuestion | undefined;
}

export interface TurnResult {
  readonly turnId: string;
  /** Null when the message was withdrawn, or the session ended, before the turn did. */
  readonly stopReason: StopReason | null;
  /** What the agent said, without its sub-agents; messages are parted by an empty line. */
  readonly text: string;
  readonly usage: Usage | null;
  readonly durationMs: number | null;
  /** The errors that the agent reported. */
  readonly errors: readonly ErrorEntry[];
  readonly transcript: Transcript;
}

export class Turn implements AsyncIterable<Event>, PromiseLike<TurnResult> {
  /** Resolves when the message is durable, which is before the agent has seen it. */
  readonly sent: Promise<SentMessage>;
  readonly #http: Http;
  readonly #sessionId: string;
  readonly #offset: number;
  readonly #handlers: Handlers;
  readonly #signal: AbortSignal | undefined;
  readonly #saw: (event: Event) => void;
  #isRead = false;
  #result: Promise<TurnResult> | null = null;

  /** For `Session.prompt`. The turn's events come after `offset`. */
  constructor(
    http: Http,
    sessionId: string,
    sent: Promise<SentMessage>,
    options: Handlers & { offset: number; signal: AbortSignal | undefined; saw: (event: Event) => void },
  ) {
    this.sent = sent;
    this.#http = http;
    this.#sessionId = sessionId;
    this.#offset = options.offset;
    this.#handlers = options;
    this.#signal = options.signal;
    this.#saw = options.saw;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    return this.#begin(this.#handlers);
  }

  /** The agent's answer while it is written, piece by piece: no thinking, no tools, no sub-agents. */
  async *text(): AsyncGenerator<string, void, undefined> {
    const calls = new Set<string>();
    const inner = new Set<string>();
    for await (const { type, data } of this.#begin(preferred(this.#handlers, NOBODY))) {
      if (type === "item.started") {
        const { item_id, kind, parent_id } = data.item;
        if (kind === "tool_call") calls.add(item_id);
        // What has a call as its parent is a sub-agent's.
        if (parent_id !== null && calls.has(parent_id)) inner.add(item_id);
      }
      if (type === "item.delta" && isAnswer(data) && !inner.has(data.item_id)) yield data.delta;
    }
  }

  then<Done = TurnResult, Failed = never>(
    done?: ((result: TurnResult) => Done | PromiseLike<Done>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    this.#result ??= this.#collect();
    return this.#result.then(done, failed);
  }

  async #collect(): Promise<TurnResult> {
    const fold = new TranscriptFold();
    for await (const event of this.#begin(preferred(this.#handlers, NOBODY))) fold.apply(event);
    return resultOf((await this.sent).turnId, fold.transcript);
  }

  #begin(handlers: Handlers): AsyncGenerator<Event, void, undefined> {
    if (this.#isRead) {
      throw new WrongUsage("a turn can be read once: keep its events, or read the session's with `session.events()`");
    }
    this.#isRead = true;
    return this.#read(handlers);
  }

  async *#read(handlers: Handlers): AsyncGenerator<Event, void, undefined> {
    const { turnId } = await this.sent;
    const control = new AbortController();
    const stop = (): void => control.abort(this.#signal?.reason);
    if (this.#signal?.aborted) stop();
    this.#signal?.addEventListener("abort", stop);
    const answers: Promise<void>[] = [];
    try {
      let started = false;
      const options = { offset: this.#offset, signal: control.signal };
      for await (const event of followSession(this.#http, this.#sessionId, options)) {
        this.#saw(event);
        started ||= event.type === "turn.started" && event.data.turn_id === turnId;
        const last = endsTurn(event, turnId);
        if (!started && !last) continue;
        // Answers are given beside the stream: agents may ask for several things at once.
        answers.push(this.#answer(event, handlers).catch((error: unknown) => control.abort(error)));
        yield event;
        if (last) break;
      }
      await Promise.all(answers);
      control.signal.throwIfAborted();
    } finally {
      this.#signal?.removeEventListener("abort", stop);
    }
  }

  async #answer(event: Event, { onPermission, onQuestion }: Handlers): Promise<void> {
    try {
      if (event.type === "permission.requested" && onPermission) await this.#decide(event.data, onPermission);
      if (event.type === "question.requested" && onQuestion) await this.#reply(event.data, onQuestion);
    } catch (error) {
      // Somebody else was quicker, or the turn ended meanwhile: the stream tells.
      if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
    }
  }

  async #decide({ permission_id }: Permission, onPermission: OnPermission): Promise<void> {
    const path = { session_id: this.#sessionId, permission_id };
    const { permissions } = await this.#http.json<PermissionList>("permissions.list", { path });
    // What a rule has decided, or lies in the past of a turn that is read again, is not asked.
    const waiting = permissions.find((one) => one.permission_id === permission_id);
    if (waiting) {
      const body = permissionBody(await onPermission(waiting));
      await this.#http.done("permissions.reply", { path, body });
    }
  }

  async #reply({ question_id }: Question, onQuestion: OnQuestion): Promise<void> {
    const path = { session_id: this.#sessionId, question_id };
    const { questions } = await this.#http.json<QuestionList>("questions.list", { path });
    const waiting = questions.find((one) => one.question_id === question_id);
    if (!waiting) return;
    const answer = await onQuestion(waiting);
    if (answer === null) await this.#http.done("questions.reject", { path });
    else await this.#http.done("questions.reply", { path, body: { answers: labelsOf(answer) } });
  }
}

/** A piece of what the agent says aloud: thinking has a visibility. */
function isAnswer({ kind, role, visibility }: ItemDelta): boolean {
  return kind === "message" && role === "assistant" && visibility === undefined;
}

/** Nobody sees the events of a turn that is awaited, or read for its text: without a handler it would wait for ever. */
const NOBODY = {
  onPermission({ action }: Permission): never {
    throw new WrongUsage(
      `the agent asks for permission (${action}) and nobody answers: give \`onPermission\` to \`sessions.create\` or ` +
        "`prompt`, choose another permissionMode, or iterate over the turn and call `session.replyPermission`",
    );
  },
  onQuestion({ prompt }: Question): never {
    throw new WrongUsage(
      `the agent asks "${prompt}" and nobody answers: give \`onQuestion\` to \`sessions.create\` or \`prompt\`, ` +
        "or iterate over the turn and call `session.replyQuestion`",
    );
  },
};

/** The handlers of the nearest place that has some. */
export function preferred(near: Handlers, far: Handlers): Handlers {
  return { onPermission: near.onPermission ?? far.onPermission, onQuestion: near.onQuestion ?? far.onQuestion };
}

const REPLIES: readonly string[] = ["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"];

/** What a handler, or the caller of `replyPermission`, said, as the daemon wants it. */
export function permissionBody(answer: PermissionAnswer): { reply: Reply; message?: string } {
  if (typeof answer === "boolean") return { reply: answer ? "once" : "reject" };
  const body = typeof answer === "string" ? { reply: answer } : answer;
  if (REPLIES.includes(body?.reply)) return body;
  throw new WrongUsage(
    `the answer to a permission is ${JSON.stringify(answer)}: it must be "once", "always" or "reject", true or false, ` +
      "or { reply, message }",
  );
}

/** The labels that were chosen, question by question. */
export function labelsOf(answer: Exclude<QuestionAnswer, null>): string[][] {
  const entries = typeof answer === "string" ? [answer] : answer;
  if (Array.isArray(entries) && entries.every((entry) => [entry].flat().every((label) => typeof label === "string"))) {
    return entries.map((entry: string | readonly string[]) => [entry].flat());
  }
  throw new WrongUsage(
    `the answer to a question is ${JSON.stringify(answer)}: it must be a text, a list with a text or a list of labels ` +
      'for each question, e.g. ["Small", ["Cheese", "Basil"]], or null to refuse',
  );
}

function resultOf(turnId: string, transcript: Transcript): TurnResult {
  const { entries } = transcript;
  const ended = entries.find((entry) => entry.kind === "turn_ended");
  const said = entries.filter((entry) => entry.kind === "message").filter((message) => message.role === "assistant");
  return {
    turnId,
    stopReason: ended?.stopReason ?? null,
    text: said.map((message) => message.text).join("\n\n"),
    usage: ended?.usage ?? null,
    durationMs: ended?.durationMs ?? null,
    errors: entries.filter((entry) => entry.kind === "error"),
    transcript,
  };
}
