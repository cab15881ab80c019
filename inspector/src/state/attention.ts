/**
 * Notifies users who are looking elsewhere that a session needs them, if they want that.
 *
 * They are asked once, in the page, when a session needs them for the first time: browsers ignore permission requests
 * that do not come from a click.
 */
import type { SessionInfo } from "sandbox-agentd";
import { go } from "../route";
import { Observable } from "chat/state/observable";
import type { SessionNames } from "./sessionNames";

const KEY = "sandbox-agent.notifications";

export class Attention extends Observable<{ readonly isOffered: boolean }> {
  #view = { isOffered: false };
  #needy: ReadonlySet<string> | null = null;

  constructor(private readonly names: SessionNames) {
    super();
  }

  get snapshot(): { readonly isOffered: boolean } {
    return this.#view;
  }

  /** Check the sessions after a change. */
  look(sessions: readonly SessionInfo[]): void {
    const needy = sessions.filter(({ state }) => state === "requires_action");
    // Sessions that were already waiting when the page was opened are visible in the list.
    const fresh = this.#needy ? needy.filter(({ sessionId }) => !this.#needy?.has(sessionId)) : [];
    this.#needy = new Set(needy.map(({ sessionId }) => sessionId));
    if (needy.length > 0 && canAsk()) this.#offer(true);
    if (document.hidden) for (const session of fresh) void this.#notify(session);
  }

  async accept(): Promise<void> {
    this.decline();
    await Notification.requestPermission();
  }

  decline(): void {
    localStorage.setItem(KEY, "asked");
    this.#offer(false);
  }

  async #notify(session: SessionInfo): Promise<void> {
    await this.names.find(session);
    notify(session, this.names.of(session));
  }

  #offer(isOffered: boolean): void {
    if (isOffered === this.#view.isOffered) return;
    this.#view = { isOffered };
    this.changed();
  }
}

/** Notifications are unavailable on plain HTTP, except from this machine. */
function canAsk(): boolean {
  return window.isSecureContext && "Notification" in window && Notification.permission === "default" && !localStorage.getItem(KEY);
}

function notify(session: SessionInfo, name: string): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const shown = new Notification(name, { body: `${session.agent} needs you`, tag: session.sessionId });
    shown.onclick = () => {
      window.focus();
      go(session.sessionId);
      shown.close();
    };
  } catch {
    // Mobile browsers define the constructor but refuse to run it.
  }
}
