/**
 * What sessions are called: by their title, or else by their first prompt.
 *
 * The first prompt is near the start of the log. Each is read once, when somebody looks at the session, a few at a time.
 */
import { type Entry, type Operations, type SessionInfo, TranscriptFold } from "sandbox-agentd";
import { lastPart } from "chat/parts/format";
import { Observable } from "chat/state/observable";

/** The prompt is nearly always among the first ten events. An answer after it may have megabytes, so pages are small. */
const PAGE = 10;
/** Where the search ends. */
const START = 50;
/** Browsers allow six connections to a daemon, and the page needs them for other things. */
const AT_ONCE = 2;
const LONGEST = 80;

interface Read {
  /** How many events there were. */
  readonly events: number;
  readonly done: Promise<void>;
}

/** The first prompts that were read; empty for a session whose log has none. */
type Prompts = ReadonlyMap<string, string>;

export class SessionNames extends Observable<Prompts> {
  #prompts: Prompts = new Map();
  #reads = new Map<string, Read>();
  #waiting: (() => void)[] = [];
  #running = 0;

  constructor(private readonly client: Operations) {
    super();
  }

  get snapshot(): Prompts {
    return this.#prompts;
  }

  /** The name as far as it is known. */
  of({ sessionId, title, turns }: SessionInfo): string {
    const prompt = this.#prompts.get(sessionId);
    if (title || prompt) return title || prompt || "";
    if (turns === 0) return "New session";
    return prompt === undefined ? "…" : sessionId;
  }

  /** Find out the name of a session, unless it is known. */
  async find({ sessionId, title, turns, eventCount }: SessionInfo): Promise<void> {
    if (title || turns === 0 || this.#prompts.get(sessionId)) return;
    const last = this.#reads.get(sessionId);
    const isNew = !last || (last.events < START && last.events < eventCount);
    const read = isNew ? { events: eventCount, done: this.#read(sessionId) } : last;
    this.#reads.set(sessionId, read);
    await read.done;
  }

  async #read(sessionId: string): Promise<void> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    // Without an answer, the session is called by its id until somebody looks again.
    const prompt = await this.#promptOf(sessionId).catch(() => {
      this.#reads.delete(sessionId);
      return "";
    });
    this.#running -= 1;
    // The latest request first: it is what somebody looks at now.
    this.#waiting.pop()?.();
    this.#prompts = new Map([...this.#prompts, [sessionId, prompt]]);
    this.changed();
  }

  async #promptOf(sessionId: string): Promise<string> {
    const fold = new TranscriptFold();
    for (let offset = 0; offset < START; offset += PAGE) {
      const { events, hasMore } = await this.client.getEvents(sessionId, { offset, limit: PAGE });
      for (const event of events) fold.apply(event);
      const prompt = firstPrompt(fold.transcript.entries);
      if (prompt || !hasMore) return prompt;
    }
    return "";
  }
}

/** The first line of the first prompt, shortened; empty if there is none. */
export function firstPrompt(entries: readonly Entry[]): string {
  const prompt = entries.find((entry) => entry.kind === "message" && entry.role === "user");
  if (prompt?.kind !== "message") return "";
  const line = prompt.text.split("\n").find((text) => text.trim() !== "");
  const files = [...prompt.files, ...prompt.images].map(({ path }) => lastPart(path)).join(", ");
  return shortened((line ?? files).trim().replace(/\s+/g, " "));
}

function shortened(text: string): string {
  // A character has one or two code units; of a prompt of megabytes, only the start is looked at.
  const characters = [...text.slice(0, 2 * LONGEST + 2)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("").trimEnd()}…` : text;
}
