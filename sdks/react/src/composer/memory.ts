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

/** A message that was sent, and may have arrived even if there was no answer. */
interface Attempt {
  readonly message: string;
  readonly key: string;
}

class Drafts {
  #written = new Map<string, string>();
  #attempts = new Map<string, Attempt | null>();
  #tellSent = new Set<TellSent>();

  get(sessionId: string): string {
    return this.#written.get(sessionId) ?? stored(`sandbox-agent.draft.${sessionId}`) ?? "";
  }

  set(sessionId: string, text: string): void {
    if (text !== this.get(sessionId)) this.#setAttempt(sessionId, null);
    this.#written.set(sessionId, text);
    store(`sandbox-agent.draft.${sessionId}`, text);
  }

  /** The key to send a message with. As long as the draft stays as it is, another attempt has the same key: it becomes one turn, not two. */
  keyFor(sessionId: string, message: string): string {
    const before = this.#attemptOf(sessionId);
    if (before?.message === message) return before.key;
    const key = newKey();
    this.#setAttempt(sessionId, { message, key });
    return key;
  }

  #attemptOf(sessionId: string): Attempt | null {
    const kept = this.#attempts.get(sessionId);
    return kept === undefined ? (JSON.parse(stored(`sandbox-agent.attempt.${sessionId}`) ?? "null") as Attempt | null) : kept;
  }

  #setAttempt(sessionId: string, attempt: Attempt | null): void {
    this.#attempts.set(sessionId, attempt);
    store(`sandbox-agent.attempt.${sessionId}`, attempt ? JSON.stringify(attempt) : "");
  }

  /** A message was sent. It is no longer a draft, not even in a field that was opened before the daemon had answered. */
  sent(sessionId: string, text: string): void {
    if (this.get(sessionId) === text) this.set(sessionId, "");
    for (const tell of this.#tellSent) tell(sessionId, text);
  }

  onSent(tell: TellSent): () => void {
    this.#tellSent.add(tell);
    return () => this.#tellSent.delete(tell);
  }
}

/** A key that makes it safe to retry a message. `randomUUID` is missing on plain HTTP. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
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
