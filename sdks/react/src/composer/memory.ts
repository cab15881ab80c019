/** Drafts by session, and sent messages, kept for this tab. */

const HISTORY = "sandbox-agent.history";
const KEPT = 100;

class History {
  #kept: string[] | null = null;

  get length(): number {
    return this.#sent.length;
  }

  get #sent(): string[] {
    this.#kept ??= JSON.parse(stored(HISTORY) ?? "[]") as string[];
    return this.#kept;
  }

  at(index: number): string {
    return this.#sent[index] ?? "";
  }

  add(text: string): void {
    if (!text.trim()) return;
    this.#kept = [...this.#sent.filter((sent) => sent !== text), text].slice(-KEPT);
    store(HISTORY, JSON.stringify(this.#kept));
  }
}

type TellSent = (sessionId: string, text: string) => void;

class Drafts {
  #written = new Map<string, string>();
  #tellSent = new Set<TellSent>();

  get(sessionId: string): string {
    return this.#written.get(sessionId) ?? stored(`sandbox-agent.draft.${sessionId}`) ?? "";
  }

  set(sessionId: string, text: string): void {
    this.#written.set(sessionId, text);
    store(`sandbox-agent.draft.${sessionId}`, text);
  }

  /** A message was sent. It is no draft any more, not even in a field that was opened before the daemon had answered. */
  sent(sessionId: string, text: string): void {
    if (this.get(sessionId) === text) this.set(sessionId, "");
    for (const tell of this.#tellSent) tell(sessionId, text);
  }

  onSent(tell: TellSent): () => void {
    this.#tellSent.add(tell);
    return () => this.#tellSent.delete(tell);
  }
}

/** Pages rendered on a server, or in a frame without storage, have none. */
function stored(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Survives a reload. Browsers store a few megabytes; anything beyond that lasts as long as the page. */
function store(key: string, text: string): void {
  try {
    sessionStorage.removeItem(key);
    if (text) sessionStorage.setItem(key, text);
  } catch {
    // It is too long to store, but it is in memory.
  }
}

export const history = new History();
export const drafts = new Drafts();
