/** How many events of each session were seen in this browser; a session with more is unread. */
import type { SessionInfo } from "sandbox-agentd";
import { Observable } from "chat/state/observable";

const KEY = "sandbox-agent.seen";
const KEPT = 1000;

export class Seen extends Observable<ReadonlyMap<string, number>> {
  /** Null until the first session list, in a browser that has seen none: all of those count as seen. */
  #counts: ReadonlyMap<string, number> | null = stored();

  get snapshot(): ReadonlyMap<string, number> {
    return this.#counts ?? NONE;
  }

  begin(sessions: readonly SessionInfo[]): void {
    if (!this.#counts) this.#set(new Map(sessions.map(({ sessionId, eventCount }) => [sessionId, eventCount])));
  }

  mark(sessionId: string, count: number): void {
    if (!this.#counts || count <= (this.snapshot.get(sessionId) ?? 0)) return;
    const others = [...this.snapshot].filter(([id]) => id !== sessionId);
    this.#set(new Map([...others, [sessionId, count] as const].slice(-KEPT)));
  }

  #set(counts: ReadonlyMap<string, number>): void {
    this.#counts = counts;
    try {
      localStorage.setItem(KEY, JSON.stringify([...counts]));
    } catch {
      // The storage is full: this page still remembers.
    }
    this.changed();
  }
}

const NONE: ReadonlyMap<string, number> = new Map();

function stored(): ReadonlyMap<string, number> | null {
  try {
    const pairs: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return Array.isArray(pairs) ? new Map(pairs as [string, number][]) : null;
  } catch {
    return null;
  }
}
