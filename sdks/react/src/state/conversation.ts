/**
 * One session as shown: its events, the transcript folded from them, and the daemon's information about it.
 *
 * Sequences have no gaps, so missing events are noticed: an event that does not follow the last one starts a catch-up
 * by pages, and one that was already seen is skipped. Nothing is lost or repeated, whatever the stream does.
 */
import { type Event, type Operations, type SessionInfo, SessionNotFound, type Transcript, TranscriptFold } from "sandbox-agentd";
import type { Connection } from "./connection.js";
import { Observable } from "./observable.js";
import { sayWhy } from "./words.js";

const PAGE = 1000;

export interface ConversationView {
  readonly transcript: Transcript;
  /** All events so far; the array grows in place, and `count` changes with it. */
  readonly events: readonly Event[];
  readonly count: number;
  /** Null until the daemon has sent it. */
  readonly info: SessionInfo | null;
  /** The daemon has no such session. */
  readonly isGone: boolean;
  readonly catchingUp: boolean;
  readonly failure: string | null;
  /** Requests are shown outside the transcript. */
  readonly asksElsewhere: boolean;
}

export class Conversation extends Observable<ConversationView> {
  #fold = new TranscriptFold();
  #events: Event[] = [];
  #known = 0;
  #info: SessionInfo | null = null;
  #news = 0;
  #isGone = false;
  #reading: Promise<void> | null = null;
  #asking: Promise<void> | null = null;
  /** The stream was opened while a page was under way: events in between are in neither. */
  #mayLack = false;
  #failure: string | null = null;
  #view: ConversationView | null = null;
  #scheduled = false;
  #askingElsewhere = 0;

  constructor(
    readonly connection: Connection,
    readonly sessionId: string,
  ) {
    super();
  }

  get client(): Operations {
    return this.connection.client;
  }

  get snapshot(): ConversationView {
    this.#view ??= {
      transcript: this.#fold.transcript,
      events: this.#events,
      count: this.#events.length,
      info: this.#info,
      isGone: this.#isGone,
      catchingUp: this.#reading !== null || this.#asking !== null,
      failure: this.#failure,
      asksElsewhere: this.#askingElsewhere > 0,
    };
    return this.#view;
  }

  get #last(): number {
    return this.#events.length;
  }

  /** An event from the stream. */
  take(event: Event): void {
    this.#known = Math.max(this.#known, event.sequence);
    // The pages are read until they have it.
    if (this.#reading) return;
    if (event.sequence === this.#last + 1) this.#append(event);
    else if (event.sequence > this.#last) void this.catchUp();
  }

  /** An update from the stream. */
  learn(news: SessionInfo & { deleted?: boolean }): void {
    this.#news += 1;
    this.#isGone = news.deleted ?? false;
    this.#info = this.#isGone ? null : news;
    this.#schedule();
  }

  /** Read everything after the last event we have. */
  catchUp(): Promise<void> {
    this.#mayLack = this.#reading !== null;
    this.#asking ??= this.#readInfo();
    this.#reading ??= this.#readPages();
    return Promise.all([this.#asking, this.#reading]).then(() => this.#schedule());
  }

  /** Show requests outside the transcript, until the returned function is called. */
  askElsewhere(): () => void {
    const add = (by: number) => {
      this.#askingElsewhere += by;
      this.#schedule();
    };
    add(1);
    return () => add(-1);
  }

  protected override watched(): () => void {
    void this.catchUp();
    return this.connection.retain();
  }

  async #readInfo(): Promise<void> {
    const before = this.#news;
    try {
      const info = await this.client.getSession(this.sessionId);
      // Events from the stream are newer.
      if (this.#news === before) [this.#info, this.#isGone] = [info, false];
    } catch (error) {
      this.#isGone ||= error instanceof SessionNotFound;
    } finally {
      this.#asking = null;
    }
  }

  async #readPages(): Promise<void> {
    this.#failure = null;
    this.#schedule();
    try {
      for (let more = true; more; ) {
        const before = this.#known;
        this.#mayLack = false;
        const page = await this.client.getEvents(this.sessionId, { offset: this.#last, limit: PAGE });
        for (const event of page.events) if (event.sequence === this.#last + 1) this.#append(event);
        // Events from the stream may be newer than the page, even if the page is empty.
        const isNews = page.events.length > 0 || this.#known > before;
        more = page.hasMore || this.#mayLack || (isNews && this.#last < this.#known);
      }
    } catch (error) {
      this.#failure = sayWhy(error);
    } finally {
      // In the same step as the last look: an event that comes after it is appended.
      this.#reading = null;
    }
  }

  #append(event: Event): void {
    this.#events.push(event);
    this.#fold.apply(event);
    this.#schedule();
  }

  /** Renders at most once per frame, however fast events arrive, and less often while the page is hidden. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const draw = () => {
      this.#scheduled = false;
      this.#view = null;
      this.changed();
    };
    if (document.hidden) setTimeout(draw, 200);
    else requestAnimationFrame(draw);
  }
}
