/**
 * The one stream that a window keeps open: the events of all sessions, and news of the sessions themselves.
 *
 * It needs no position of its own. Whenever it opens, `onOpen` asks for what was missed; whoever keeps events
 * knows by their sequence what that is.
 */
import type { Event } from "sdk/events";
import { Observable } from "chat/state/observable";
import type { Daemon } from "./daemon";
import { Refused, sayWhy } from "./problem";
import { frames } from "./sse";
import type { SessionNews } from "./types";

/** The daemon pings every 15 s; a connection that is silent for longer is dead, whatever the system says. */
const SILENCE_MS = 40_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export interface Link {
  readonly state: "connecting" | "catching up" | "live" | "offline";
  /** Since when it is so. */
  readonly since: number;
  readonly why: string | null;
  /** When it tries again, while offline. */
  readonly retryAt: number | null;
  /** How often it has been opened. */
  readonly opened: number;
}

interface Listener {
  onOpen(): Promise<void>;
  onEvents(events: Event[]): void;
  onSession(news: SessionNews): void;
  /** The daemon no longer takes our token. */
  onLockedOut(): void;
}

export class LiveStream extends Observable<Link> {
  #link: Link = { state: "connecting", since: Date.now(), why: null, retryAt: null, opened: 0 };
  #abort = new AbortController();
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly daemon: Daemon,
    private readonly listener: Listener,
  ) {
    super();
  }

  get snapshot(): Link {
    return this.#link;
  }

  async run(): Promise<void> {
    window.addEventListener("online", this.retryNow);
    let wait = FIRST_WAIT_MS;
    while (!this.#closed) {
      try {
        await this.#follow(() => (wait = FIRST_WAIT_MS));
        this.#offline("the daemon ended the stream", wait);
      } catch (error) {
        if (this.#closed) break;
        if (error instanceof Refused && error.status === 401) {
          this.listener.onLockedOut();
          break;
        }
        this.#offline(sayWhy(error), wait);
      }
      await this.#rest(wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
    window.removeEventListener("online", this.retryNow);
  }

  close(): void {
    this.#closed = true;
    this.#abort.abort();
    this.#wake();
  }

  retryNow = (): void => this.#wake();

  async #follow(opened: () => void): Promise<void> {
    this.#abort = new AbortController();
    const response = await this.daemon.open("/v1/events/sse", { signal: this.#abort.signal });
    opened();
    this.#set({ state: "catching up", why: null, retryAt: null, opened: this.#link.opened + 1 });
    const caughtUp = this.listener.onOpen().then(() => this.#set({ state: "live" }));
    try {
      await Promise.all([caughtUp, this.#read(response)]);
    } finally {
      // Whichever of the two failed, the other ends with it.
      this.#abort.abort();
    }
  }

  async #read(response: Response): Promise<void> {
    if (!response.body) return;
    let watch = this.#watch();
    try {
      for await (const batch of frames(response.body)) {
        clearTimeout(watch);
        watch = this.#watch();
        const events: Event[] = [];
        for (const frame of batch) {
          if (frame.event === "session") this.listener.onSession(JSON.parse(frame.data) as SessionNews);
          else if (frame.event === "message") events.push(JSON.parse(frame.data) as Event);
        }
        if (events.length) this.listener.onEvents(events);
      }
    } finally {
      clearTimeout(watch);
    }
  }

  #watch(): number {
    return window.setTimeout(() => this.#abort.abort(), SILENCE_MS);
  }

  #offline(why: string, wait: number): void {
    this.#set({ state: "offline", why, retryAt: Date.now() + wait });
  }

  #rest(wait: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #set(change: Partial<Link>): void {
    if (this.#closed) return;
    const since = change.state && change.state !== this.#link.state ? Date.now() : this.#link.since;
    this.#link = { ...this.#link, ...change, since };
    this.changed();
  }
}
