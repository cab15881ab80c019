/**
 * One session as it is shown: its events, and the transcript folded from them.
 *
 * Sequences have no gaps, so what is missing is known: an event that does not follow on the last one starts a
 * catch-up by pages, and one that was seen before is left out. Nothing is lost or doubled, whatever the stream did.
 */
import type { Event } from "sdk/events";
import { TranscriptFold, type Transcript } from "sdk/transcript";
import { type Daemon, sessionPath } from "inspector/daemon/daemon";
import { sayWhy } from "inspector/daemon/problem";
import { Observable } from "./observable.js";

const PAGE = 1000;

export interface ConversationView {
  readonly transcript: Transcript;
  /** All events so far; the array grows, `count` tells when. */
  readonly events: readonly Event[];
  readonly count: number;
  readonly catchingUp: boolean;
  readonly failure: string | null;
}

export class Conversation extends Observable<ConversationView> {
  #fold = new TranscriptFold();
  #events: Event[] = [];
  #known = 0;
  #catchingUp: Promise<void> | null = null;
  #failure: string | null = null;
  #view: ConversationView | null = null;
  #scheduled = false;

  constructor(
    private readonly daemon: Daemon,
    readonly sessionId: string,
  ) {
    super();
  }

  get snapshot(): ConversationView {
    this.#view ??= {
      transcript: this.#fold.transcript,
      events: this.#events,
      count: this.#events.length,
      catchingUp: this.#catchingUp !== null,
      failure: this.#failure,
    };
    return this.#view;
  }

  get #last(): number {
    return this.#events.length;
  }

  /** An event from the stream. */
  take(event: Event): void {
    this.#known = Math.max(this.#known, event.sequence);
    if (event.sequence === this.#last + 1 && !this.#catchingUp) this.#append(event);
    else if (event.sequence > this.#last) void this.catchUp();
  }

  /** Read what is there past the last event we have. */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.#readPages().finally(() => {
      this.#catchingUp = null;
      this.#schedule();
    });
    return this.#catchingUp;
  }

  async #readPages(): Promise<void> {
    this.#failure = null;
    this.#schedule();
    try {
      for (let more = true; more; ) {
        const path = `${sessionPath(this.sessionId, "events")}?offset=${this.#last}&limit=${PAGE}`;
        const told = this.#known;
        const page = await this.daemon.get<{ events: Event[]; hasMore: boolean }>(path);
        for (const event of page.events) if (event.sequence === this.#last + 1) this.#append(event);
        // What the stream told meanwhile may have come after the page was made, also after an empty one.
        const isNews = page.events.length > 0 || this.#known > told;
        more = page.hasMore || (isNews && this.#last < this.#known);
      }
    } catch (error) {
      this.#failure = sayWhy(error);
    }
  }

  #append(event: Event): void {
    this.#events.push(event);
    this.#fold.apply(event);
    this.#schedule();
  }

  /** At most one drawing per frame, however fast events come; a hidden page draws now and then. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const draw = () => {
      this.#scheduled = false;
      this.#view = null;
      this.changed();
    };
    if (document.hidden) window.setTimeout(draw, 200);
    else requestAnimationFrame(draw);
  }
}
