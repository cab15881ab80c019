/**
 * The single stream that a page keeps open for a client: the events of all sessions, and updates of the sessions.
 *
 * Browsers allow few connections to one host, so all sessions of a page share it. It keeps no position of its own:
 * whenever it opens, every conversation requests what it missed after its last event.
 */
import { type Event, type Operations, type SessionInfo, type StreamConnection, TokenInvalid } from "sandbox-agentd";
import { Conversation } from "./conversation.js";
import { LateAnswers } from "./lateAnswers.js";
import { Observable } from "./observable.js";
import { OwnTurns } from "./ownTurns.js";
import { sayWhy } from "./words.js";

export type SessionNews = SessionInfo & { readonly deleted?: boolean };

export interface Link {
  readonly state: "connecting" | "catching up" | "live" | "offline";
  /** When the state last changed. */
  readonly since: number;
  readonly why: string | null;
  /** When it retries, while offline. */
  readonly retryAt: number | null;
  /** How often it has been opened. */
  readonly opened: number;
}

export interface Listener {
  /** A connection is open: request what was missed. */
  onOpen?(): Promise<void>;
  onSession?(news: SessionNews): void;
  /** The daemon refuses the token, so the stream has ended. */
  onLockedOut?(): void;
}

/** Conversations stay in memory when another one is opened, up to this many. */
const KEPT = 8;
/** How often to retry what only a change on the daemon's side can fix. */
const AGAIN_MS = 5_000;
/** How long an unused stream stays open: in development, React unmounts and mounts again at once. */
const LINGER_MS = 1_000;

export class Connection extends Observable<Link> {
  readonly lateAnswers = new LateAnswers();
  readonly ownTurns = new OwnTurns();
  #link: Link = { state: "connecting", since: Date.now(), why: null, retryAt: null, opened: 0 };
  #conversations = new Map<string, Conversation>();
  #users = 0;
  #stream: AbortController | null = null;
  #retry: () => void = () => undefined;

  constructor(
    readonly client: Operations,
    private readonly listener: Listener = {},
  ) {
    super();
  }

  get snapshot(): Link {
    return this.#link;
  }

  conversation(sessionId: string): Conversation {
    const conversation = this.#conversations.get(sessionId) ?? new Conversation(this, sessionId);
    // The most recent is last, so the first one is dropped.
    this.#conversations.delete(sessionId);
    this.#conversations.set(sessionId, conversation);
    for (const [id, { isWatched }] of this.#conversations) {
      if (this.#conversations.size <= KEPT) break;
      if (!isWatched && id !== sessionId) this.#conversations.delete(id);
    }
    return conversation;
  }

  /** Keep the stream open until the returned function is called. */
  retain(): () => void {
    this.#users += 1;
    if (!this.#stream) void this.#run((this.#stream = new AbortController()));
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#users -= 1;
      setTimeout(() => this.#users === 0 && this.close(), LINGER_MS);
    };
  }

  close(): void {
    this.#stream?.abort();
    this.#stream = null;
  }

  retryNow = (): void => this.#retry();

  async #run(stream: AbortController): Promise<void> {
    window.addEventListener("online", this.retryNow, { signal: stream.signal });
    while (!stream.signal.aborted) {
      const broken = await this.#follow(stream.signal).then(() => null, (error: unknown) => error);
      if (stream.signal.aborted) break;
      if (broken instanceof TokenInvalid) {
        this.close();
        this.#set({ state: "offline", why: sayWhy(broken), retryAt: null });
        this.listener.onLockedOut?.();
        break;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, AGAIN_MS);
        const retry = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#onConnection({ state: "waiting", error: broken, retryAt: Date.now() + AGAIN_MS, retry });
        stream.signal.addEventListener("abort", retry);
      });
    }
  }

  async #follow(outer: AbortSignal): Promise<void> {
    const reading = new AbortController();
    const leave = () => reading.abort();
    outer.addEventListener("abort", leave);
    const onConnection = (connection: StreamConnection) => {
      this.#onConnection(connection);
      if (connection.state === "open") this.#catchUp().catch((error: unknown) => reading.abort(error));
    };
    try {
      for await (const entry of this.client.streamAllEvents({ signal: reading.signal, onConnection, resume: false })) {
        if (entry.kind === "session") this.#onSession(entry.session);
        else this.#onEvent(entry.event);
      }
    } finally {
      outer.removeEventListener("abort", leave);
    }
  }

  #onConnection(connection: StreamConnection): void {
    if (connection.state === "open") {
      this.#set({ state: "catching up", why: null, retryAt: null, opened: this.#link.opened + 1 });
    } else {
      this.#retry = connection.retry;
      const why = connection.error ? sayWhy(connection.error) : "the daemon ended the stream";
      this.#set({ state: "offline", why, retryAt: connection.retryAt });
    }
  }

  async #catchUp(): Promise<void> {
    const { opened } = this.#link;
    await Promise.all([
      this.listener.onOpen?.(),
      ...[...this.#conversations.values()].map((conversation) => conversation.catchUp()),
    ]);
    if (this.#link.state === "catching up" && this.#link.opened === opened) this.#set({ state: "live" });
  }

  #onEvent(event: Event): void {
    this.#conversations.get(event.session_id)?.take(event);
  }

  #onSession(news: SessionNews): void {
    this.#conversations.get(news.sessionId)?.learn(news);
    this.listener.onSession?.(news);
    if (news.deleted) this.#conversations.delete(news.sessionId);
  }

  #set(change: Partial<Link>): void {
    const since = change.state && change.state !== this.#link.state ? Date.now() : this.#link.since;
    this.#link = { ...this.#link, ...change, since };
    this.changed();
  }
}

const connections = new WeakMap<Operations, Connection>();

/** The connection of a client, created on first use. */
export function connectionOf(client: Operations): Connection {
  let connection = connections.get(client);
  if (!connection) connections.set(client, (connection = new Connection(client)));
  return connection;
}
