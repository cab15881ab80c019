/** Everything that belongs to one connection: the stream, the sessions, the agents, the conversations that were opened. */
import { createContext, useContext } from "react";
import type { Event } from "sdk/events";
import type { Daemon } from "../daemon/daemon";
import { LiveStream } from "../daemon/liveStream";
import type { SessionNews } from "../daemon/types";
import { AgentList } from "./agentList";
import { LateAnswers } from "chat/state/lateAnswers";
import { Attention } from "./attention";
import { Conversation } from "chat/state/conversation";
import { OwnTurns } from "chat/state/ownTurns";
import { Seen } from "./seen";
import { SessionList } from "./sessionList";

/** Conversations stay in memory when another is opened, but not all of them. */
const KEPT = 8;

export class Workspace {
  readonly sessions: SessionList;
  readonly agents: AgentList;
  readonly live: LiveStream;
  readonly lateAnswers = new LateAnswers();
  readonly ownTurns = new OwnTurns();
  readonly seen = new Seen();
  readonly attention = new Attention();
  #conversations = new Map<string, Conversation>();

  constructor(
    readonly daemon: Daemon,
    readonly version: string,
    onLockedOut: () => void,
  ) {
    this.sessions = new SessionList(daemon);
    this.agents = new AgentList(daemon);
    this.live = new LiveStream(daemon, {
      onOpen: () => this.#catchUp(),
      onEvents: (events) => this.#onEvents(events),
      onSession: (news) => this.#onSession(news),
      onLockedOut,
    });
  }

  start(): void {
    void this.live.run();
    void this.agents.reload();
  }

  stop(): void {
    this.live.close();
  }

  conversation(sessionId: string): Conversation {
    let conversation = this.#conversations.get(sessionId);
    if (!conversation) {
      conversation = new Conversation(this.daemon, sessionId);
      void conversation.catchUp();
    }
    // The latest is last, so that the first is the one to let go.
    this.#conversations.delete(sessionId);
    this.#conversations.set(sessionId, conversation);
    if (this.#conversations.size > KEPT) {
      const [oldest] = this.#conversations.keys();
      if (oldest !== undefined) this.#conversations.delete(oldest);
    }
    return conversation;
  }

  async #catchUp(): Promise<void> {
    const listed = this.sessions.reload().then(() => {
      this.seen.begin(this.sessions.snapshot);
      this.attention.look(this.sessions.snapshot);
    });
    await Promise.all([
      listed,
      ...[...this.#conversations.values()].map((conversation) => conversation.catchUp()),
    ]);
  }

  #onEvents(events: Event[]): void {
    for (const event of events) this.#conversations.get(event.session_id)?.take(event);
  }

  #onSession(news: SessionNews): void {
    this.sessions.take(news);
    this.attention.look(this.sessions.snapshot);
    if (news.deleted) this.#conversations.delete(news.sessionId);
  }
}

const WorkspaceContext = createContext<Workspace | null>(null);
export const WorkspaceProvider = WorkspaceContext.Provider;

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error("there is no connection here");
  return workspace;
}
