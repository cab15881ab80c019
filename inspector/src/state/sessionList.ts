/** The daemon's sessions, whoever created them: first those that need attention, then running ones, then the latest. */
import type { SessionNews } from "chat/state/connection";
import type { Operations, SessionInfo, SessionPage } from "sandbox-agentd";
import { Observable } from "chat/state/observable";

export class SessionList extends Observable<readonly SessionInfo[]> {
  #byId = new Map<string, SessionInfo>();
  #sorted: readonly SessionInfo[] = [];
  #isKnown = false;

  constructor(private readonly client: Operations) {
    super();
  }

  get snapshot(): readonly SessionInfo[] {
    return this.#sorted;
  }

  /** Whether it was ever read: before that, an empty list says nothing. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Reload all sessions. Updates that arrive on the stream in the meantime are newer than a page, so they win. */
  async reload(): Promise<void> {
    const newer = new Map<string, SessionNews>();
    this.#listening.add(newer);
    try {
      const found = new Map<string, SessionInfo>();
      let cursor: string | null | undefined = null;
      do {
        const page: SessionPage = await this.client.listSessions({ limit: 1000, cursor });
        for (const session of page.sessions) found.set(session.sessionId, session);
        cursor = page.nextCursor;
      } while (cursor);
      this.#byId = found;
      this.#isKnown = true;
      for (const news of newer.values()) this.#put(news);
      this.#sort();
    } finally {
      this.#listening.delete(newer);
    }
  }

  #listening = new Set<Map<string, SessionNews>>();

  take(news: SessionNews): void {
    for (const newer of this.#listening) newer.set(news.sessionId, news);
    this.#put(news);
    this.#sort();
  }

  #put(news: SessionNews): void {
    if (news.deleted) this.#byId.delete(news.sessionId);
    else this.#byId.set(news.sessionId, news);
  }

  #sort(): void {
    this.#sorted = [...this.#byId.values()].sort(inOrder);
    this.changed();
  }
}

const RANKS: Readonly<Partial<Record<SessionInfo["state"], number>>> = { requires_action: 0, running: 1 };

export function rankOf({ state }: SessionInfo): number {
  return RANKS[state] ?? 2;
}

function inOrder(a: SessionInfo, b: SessionInfo): number {
  return rankOf(a) - rankOf(b) || b.updatedAt.localeCompare(a.updatedAt) || b.createdAt.localeCompare(a.createdAt);
}
