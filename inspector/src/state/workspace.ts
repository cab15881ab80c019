/** Everything that belongs to one connection: stream, sessions, agents and opened conversations. */
import { createContext, useContext } from "react";
import type { Operations } from "sandbox-agentd";
import { Connection, type SessionNews } from "chat/state/connection";
import type { Conversation } from "chat/state/conversation";
import type { Daemon } from "../daemon/daemon";
import { AgentList } from "./agentList";
import { Attention } from "./attention";
import { Seen } from "./seen";
import { SessionList } from "./sessionList";
import { SessionNames } from "./sessionNames";

export class Workspace {
  readonly sessions: SessionList;
  readonly agents: AgentList;
  readonly names: SessionNames;
  readonly connection: Connection;
  readonly seen = new Seen();
  readonly attention: Attention;

  constructor(
    readonly daemon: Daemon,
    readonly version: string,
    onLockedOut: () => void,
  ) {
    this.sessions = new SessionList(daemon.client);
    this.agents = new AgentList(daemon.client);
    this.names = new SessionNames(daemon.client);
    this.attention = new Attention(this.names);
    this.connection = new Connection(daemon.client, {
      onOpen: () => this.#catchUp(),
      onSession: (news) => this.#onSession(news),
      onLockedOut,
    });
  }

  get client(): Operations {
    return this.daemon.client;
  }

  start(): void {
    this.connection.retain();
    void this.agents.reload();
  }

  stop(): void {
    this.connection.close();
  }

  conversation(sessionId: string): Conversation {
    return this.connection.conversation(sessionId);
  }

  async #catchUp(): Promise<void> {
    await this.sessions.reload();
    this.seen.begin(this.sessions.snapshot);
    this.attention.look(this.sessions.snapshot);
  }

  #onSession(news: SessionNews): void {
    this.sessions.take(news);
    this.attention.look(this.sessions.snapshot);
  }
}

const WorkspaceContext = createContext<Workspace | null>(null);
export const WorkspaceProvider = WorkspaceContext.Provider;

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error("there is no connection here");
  return workspace;
}
