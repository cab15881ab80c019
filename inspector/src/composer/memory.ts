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
    sessionStorage.setItem(HISTORY, JSON.stringify(this.#sent));
  }
}

class Drafts {
  get(sessionId: string): string {
    return sessionStorage.getItem(`sandbox-agent.draft.${sessionId}`) ?? "";
  }

  set(sessionId: string, text: string): void {
    const key = `sandbox-agent.draft.${sessionId}`;
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  }
}

export const history = new History();
export const drafts = new Drafts();
