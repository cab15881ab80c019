/** Sessions as objects: one conversation with one agent. */
import {
  type Handlers,
  labelsOf,
  type PermissionAnswer,
  permissionBody,
  preferred,
  type QuestionAnswer,
} from "./answers.js";
import { type ProblemDetails, problemOf, WrongUsage } from "./errors.js";
import type { Event } from "./events.js";
import type { CallOptions } from "./http.js";
import type {
  Message,
  Operations,
  QueuedMessage,
  SentMessage,
  SessionInfo,
  SessionSettings,
  SessionUpdate,
} from "./operations.js";
import { Reading } from "./reading.js";
import { type ClientTool, specsOf, type Toolbox, Toolboxes, type ToolReply, toolRequestIn } from "./tools.js";
import { TranscriptFold } from "./transcript.js";
import type { Transcript } from "./entries.js";
import { Turn, type TurnOptions } from "./turn.js";

export interface CreateOptions extends Omit<SessionSettings, "tools">, Handlers, CallOptions {
  /** The session's id (default: chosen by the daemon). */
  id?: string | undefined;
  /** Functions that the agent may call. They run while a turn is read, or with `serveTools`. */
  tools?: readonly ClientTool[] | undefined;
}

export interface GetOptions extends Handlers {
  /** The functions of the tools that the session was created with; needed e.g. after your program restarted. */
  tools?: readonly ClientTool[] | undefined;
}

export interface PromptOptions extends TurnOptions, Omit<Message, "message"> {
  /** A repeated key returns the same turn, so a restarted program that chose its own key finds its turn again. */
  idempotencyKey?: string | undefined;
}

export interface EventsOptions extends CallOptions {
  /** Sequence of the last event already seen (default: 0). */
  offset?: number | undefined;
  /** Whether to wait for new events (default: true). */
  follow?: boolean | undefined;
  /** Include the native payload that caused each event. */
  includeRaw?: boolean | undefined;
}

/** `client.sessions`. */
export class Sessions {
  readonly #client: Operations;
  readonly #handlers: Handlers;
  readonly #toolboxes = new Toolboxes();

  /** @internal */
  constructor(client: Operations, handlers: Handlers) {
    this.#client = client;
    this.#handlers = handlers;
  }

  /** Create a session and start its agent. Throws if the agent cannot be started. */
  async create(options: CreateOptions): Promise<Session> {
    if (typeof options?.agent !== "string") {
      throw new WrongUsage('say which agent to run: client.sessions.create({ agent: "claude" })');
    }
    const { id, onPermission, onQuestion, signal, tools = [], ...rest } = options;
    const settings = { ...rest, tools: specsOf(tools) };
    const created =
      id === undefined
        ? await this.#client.newSession(settings, { signal })
        : await this.#client.createSession(id, settings, { signal });
    if (created.error) throw problemOf(created.error as unknown as ProblemDetails);
    const handlers = preferred({ onPermission, onQuestion }, this.#handlers);
    return new Session(this.#client, created.sessionId, 0, handlers, this.#toolboxes.of(created.sessionId, tools));
  }

  /** An existing session. */
  async get(sessionId: string, options: GetOptions = {}): Promise<Session> {
    const { tools = [], ...handlers } = options;
    specsOf(tools);
    const info = await this.#client.getSession(sessionId);
    const toolbox = this.#toolboxes.of(info.sessionId, tools);
    return new Session(this.#client, info.sessionId, info.eventCount, preferred(handlers, this.#handlers), toolbox);
  }

  /** All sessions, newest first, page by page. */
  async *list(options: CallOptions = {}): AsyncGenerator<SessionInfo, void, undefined> {
    let cursor: string | null | undefined;
    do {
      const page = await this.#client.listSessions({ cursor, ...options });
      yield* page.sessions;
      cursor = page.nextCursor;
    } while (cursor);
  }
}

export class Session {
  readonly id: string;
  readonly #client: Operations;
  readonly #handlers: Handlers;
  readonly #toolbox: Toolbox;
  /** Events up to this sequence existed before; those of the next turn follow. */
  #seen: number;

  /** @internal */
  constructor(client: Operations, id: string, seen: number, handlers: Handlers, toolbox: Toolbox) {
    this.id = id;
    this.#client = client;
    this.#seen = seen;
    this.#handlers = handlers;
    this.#toolbox = toolbox;
  }

  /** Send a prompt. Iterate over the turn's events, or await it for the result. */
  prompt(message: string, options: PromptOptions = {}): Turn {
    if (typeof message !== "string" || message === "") {
      throw new WrongUsage("a prompt is a string that is not empty; files go into `attachments`");
    }
    const { onPermission, onQuestion, signal, idempotencyKey, timeoutMs, answerTimeoutMs, throwOnError, ...rest } =
      options;
    // The caller's key may name an earlier turn.
    const offset = idempotencyKey === undefined ? this.#seen : 0;
    const sent = this.#client.sendMessage(this.id, { message, ...rest }, { idempotencyKey, signal });
    const handlers = preferred({ onPermission, onQuestion }, this.#handlers);
    return new Turn(this.#client.http, this.id, sent, {
      ...handlers,
      toolbox: this.#toolbox,
      timeoutMs,
      answerTimeoutMs,
      throwOnError,
      offset,
      signal,
      saw: (event) => this.#saw(event),
    });
  }

  /** Send a message without waiting for its turn. */
  send(message: string | Message, options: CallOptions = {}): Promise<SentMessage> {
    return this.#client.sendMessage(this.id, message, options);
  }

  /** The queued messages, page by page. */
  async *queue(options: CallOptions = {}): AsyncGenerator<QueuedMessage, void, undefined> {
    let cursor: string | null | undefined;
    do {
      const page = await this.#client.getQueue(this.id, { cursor, ...options });
      yield* page.messages;
      cursor = page.nextCursor;
    } while (cursor);
  }

  /** The session's events, then every new one, until the session has ended. */
  async *events(options: EventsOptions = {}): AsyncGenerator<Event, void, undefined> {
    const { follow = true, ...rest } = options;
    for await (const event of follow ? this.#client.streamEvents(this.id, rest) : this.#pages(rest)) {
      this.#saw(event);
      yield event;
    }
  }

  /** The transcript so far. */
  async transcript(options: CallOptions = {}): Promise<Transcript> {
    const fold = new TranscriptFold();
    for await (const event of this.events({ follow: false, ...options })) fold.apply(event);
    return fold.transcript;
  }

  /** State, settings and usage. */
  info(options: CallOptions = {}): Promise<SessionInfo> {
    return this.#client.getSession(this.id, options);
  }

  /** Rename it, or switch model, variant or modes. */
  update(changes: SessionUpdate, options: CallOptions = {}): Promise<SessionInfo> {
    return this.#client.updateSession(this.id, changes, options);
  }

  /** End the running turn, or only the one with `turnId`, and keep the session. */
  cancel(options: { turnId?: string } & CallOptions = {}): Promise<void> {
    return this.#client.cancelSession(this.id, options);
  }

  /** End the session and every process it started. */
  terminate(options: CallOptions = {}): Promise<void> {
    return this.#client.terminateSession(this.id, options);
  }

  /** Stop the process of an idle agent; the next message resumes the conversation. */
  suspend(options: CallOptions = {}): Promise<void> {
    return this.#client.suspendSession(this.id, options);
  }

  /** Terminate the session and delete it. */
  delete(options: CallOptions = {}): Promise<void> {
    return this.#client.deleteSession(this.id, options);
  }

  /** Answer a permission. */
  replyPermission(permissionId: string, answer: PermissionAnswer, options: CallOptions = {}): Promise<void> {
    return this.#client.replyPermission(this.id, permissionId, permissionBody(answer), options);
  }

  /** Answer a question. */
  replyQuestion(questionId: string, answer: Exclude<QuestionAnswer, null>, options: CallOptions = {}): Promise<void> {
    return this.#client.replyQuestion(this.id, questionId, { answers: labelsOf(answer) }, options);
  }

  /** Refuse to answer a question. */
  rejectQuestion(questionId: string, options: CallOptions = {}): Promise<void> {
    return this.#client.rejectQuestion(this.id, questionId, options);
  }

  /** Answer a call of a tool. */
  replyToolCall(callId: string, reply: ToolReply, options: CallOptions = {}): Promise<void> {
    return this.#client.replyToolCall(this.id, callId, reply, options);
  }

  /**
   * Answer calls of this session's tools until the session ends or `signal` aborts, no matter who sent the prompt.
   *
   * A turn that you read answers them itself. Use this if another program sends the prompts, or if you use
   * `send`. Give the functions to `sessions.create` or `sessions.get`.
   */
  async serveTools(options: CallOptions = {}): Promise<void> {
    const reading = new Reading(options.signal);
    const { http } = this.#client;
    try {
      const { eventCount: offset } = await this.info(options);
      const { toolCalls } = await this.#client.listToolCalls(this.id, options);
      for (const call of toolCalls) reading.background(this.#toolbox.answer(http, this.id, call));
      for await (const event of this.#client.streamEvents(this.id, { offset, signal: reading.signal })) {
        const call = event.type === "item.started" ? toolRequestIn(event.data.item) : null;
        if (call) reading.background(this.#toolbox.answer(http, this.id, call));
      }
    } finally {
      reading.close();
    }
  }

  async *#pages(options: Omit<EventsOptions, "follow">): AsyncGenerator<Event> {
    let offset = options.offset ?? 0;
    for (let more = true; more;) {
      const page = await this.#client.getEvents(this.id, { ...options, offset, limit: 1000 });
      yield* page.events;
      offset = page.events.at(-1)?.sequence ?? offset;
      more = page.hasMore;
    }
  }

  #saw(event: Event): void {
    this.#seen = Math.max(this.#seen, event.sequence);
  }
}
