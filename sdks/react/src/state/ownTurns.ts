/** Which prompts were sent from this browser. The log does not say who sent a prompt; all others came from other clients. */
import { Observable } from "./observable.js";

const KEY = "sandbox-agent.turns";
const KEPT = 2000;

interface View {
  readonly turnIds: ReadonlySet<string>;
  /** Prompts being sent: a prompt may be in the log before the daemon has returned its turn. */
  readonly sending: ReadonlySet<string>;
}

export class OwnTurns extends Observable<View> {
  #view: View = { turnIds: new Set(stored()), sending: new Set() };

  get snapshot(): View {
    return this.#view;
  }

  /** Send a prompt, and remember its turn. */
  async during<Sent extends { turnId: string }>(text: string, send: () => Promise<Sent>): Promise<Sent> {
    this.#set({ sending: new Set([...this.#view.sending, text]) });
    try {
      const sent = await send();
      this.#add(sent.turnId);
      return sent;
    } finally {
      this.#set({ sending: new Set([...this.#view.sending].filter((other) => other !== text)) });
    }
  }

  /** Other tabs of this browser send prompts too. */
  protected override watched(): () => void {
    const read = ({ key }: { key: string | null }) => {
      if (key === KEY) this.#set({ turnIds: new Set([...stored(), ...this.#view.turnIds]) });
    };
    window.addEventListener("storage", read);
    read({ key: KEY });
    return () => window.removeEventListener("storage", read);
  }

  #add(turnId: string): void {
    // Another tab may have added some in the meantime.
    const turnIds = new Set([...stored(), ...this.#view.turnIds, turnId].slice(-KEPT));
    this.#set({ turnIds });
    try {
      localStorage.setItem(KEY, JSON.stringify([...turnIds]));
    } catch {
      // The storage is full: this page still remembers.
    }
  }

  #set(change: Partial<View>): void {
    this.#view = { ...this.#view, ...change };
    this.changed();
  }
}

export function isOwn({ turnIds, sending }: View, prompt: { turnId: string | null; text: string }): boolean {
  return (prompt.turnId !== null && turnIds.has(prompt.turnId)) || sending.has(prompt.text);
}

function stored(): string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}
