/** What was written: drafts by session, and the messages that were sent, for this tab. */

const HISTORY = "sandbox-agent.history";
const KEPT = 100;

class History {
  #sent: string[] = JSON.parse(sessionStorage.getItem(HISTORY) ?? "[]") as string[];

  get length(): number {
    return this.#sent.length;
  }

  at(index: number): string {
    return this.#sent[index] ?? "";
  }

  add(text: string): void {
    if (!text.trim()) return;
    this.#sent = [...this.#sent.filter((sent) => sent !== text), text].slice(-KEPT);
    store(HISTORY, JSON.stringify(this.#sent));
  }
}

class Drafts {
  #written = new Map<string, string>();

  get(sessionId: string): string {
    return this.#written.get(sessionId) ?? sessionStorage.getItem(`sandbox-agent.draft.${sessionId}`) ?? "";
  }

  set(sessionId: string, text: string): void {
    this.#written.set(sessionId, text);
    store(`sandbox-agent.draft.${sessionId}`, text);
  }
}

/** For after a reload. Browsers keep a few megabytes: what is more lasts as long as the page does. */
function store(key: string, text: string): void {
  sessionStorage.removeItem(key);
  if (!text) return;
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // It is too long, and it is in memory.
  }
}

export const history = new History();
export const drafts = new Drafts();
