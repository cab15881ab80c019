/**
 * The connection to a terminal. The daemon sends the recent output first, so every connection starts with an empty
 * screen. A lost connection is reopened.
 */
import type { Daemon } from "../daemon/daemon";
import { Problem } from "sandbox-agentd";
import { Observable } from "chat/state/observable";

export type LinkState =
  | { readonly kind: "connecting" | "open" | "offline" | "gone" }
  | { readonly kind: "exited"; readonly code: number | null };

interface Screen {
  /** Everything shown is about to be sent again. */
  clear: () => void;
  write: (output: Uint8Array, onWritten: () => void) => void;
  opened: () => void;
}

type Frame = { type: "ready" } | { type: "exit"; exitCode: number | null } | { type: "error"; message: string };

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
/** How much may wait to be drawn. Beyond that, reconnecting for the recent output is faster. */
const MAX_WAITING = 4 << 20;
/** The daemon accepts 64 KiB at once; a character has up to three bytes. */
const MAX_TYPED = 16_000;

export class TerminalLink extends Observable<LinkState> {
  #state: LinkState = { kind: "connecting" };
  #socket: WebSocket | null = null;
  #timer = 0;
  #wait = FIRST_WAIT;
  #closed = false;
  /** Typed before the connection was open. */
  #early = "";

  constructor(
    private readonly daemon: Daemon,
    private readonly processId: string,
    private readonly screen: Screen,
  ) {
    super();
    this.#connect();
  }

  get snapshot(): LinkState {
    return this.#state;
  }

  type(text: string): void {
    if (this.#state.kind === "connecting") this.#early = (this.#early + text).slice(0, MAX_TYPED);
    for (let from = 0; from < text.length; ) {
      let to = Math.min(from + MAX_TYPED, text.length);
      // Keep both halves of a surrogate pair together.
      if (to < text.length && /[\ud800-\udbff]/.test(text.charAt(to - 1))) to -= 1;
      this.#say({ type: "input", data: text.slice(from, to) });
      from = to;
    }
  }

  resize(cols: number, rows: number): void {
    this.#say({ type: "resize", cols, rows });
  }

  close(): void {
    this.#closed = true;
    window.clearTimeout(this.#timer);
    this.#socket?.close();
  }

  retryNow = (): void => {
    if (this.#state.kind !== "offline") return;
    window.clearTimeout(this.#timer);
    this.#connect();
  };

  #connect(): void {
    this.#become({ kind: "connecting" });
    const socket = this.daemon.socket(this.daemon.client.processes.terminalUrl(this.processId));
    this.#socket = socket;
    let waiting = 0;
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== this.#socket) return;
      if (typeof data === "string") return this.#onFrame(JSON.parse(data) as Frame);
      waiting += data.byteLength;
      this.screen.write(new Uint8Array(data), () => {
        waiting -= data.byteLength;
      });
      if (waiting > MAX_WAITING) {
        this.#socket = null;
        socket.close();
        this.#connect();
      }
    };
    socket.onclose = () => {
      if (socket === this.#socket) void this.#onClose();
    };
  }

  #onFrame(frame: Frame): void {
    if (frame.type === "ready") {
      this.#wait = FIRST_WAIT;
      this.screen.clear();
      this.#become({ kind: "open" });
      this.screen.opened();
      this.type(this.#early);
      this.#early = "";
    } else if (frame.type === "exit") {
      this.#become({ kind: "exited", code: frame.exitCode });
    }
  }

  async #onClose(): Promise<void> {
    this.#socket = null;
    this.#early = "";
    if (this.#closed || this.#state.kind === "exited") return;
    this.#become({ kind: "offline" });
    const isGone = await this.#isGone();
    if (this.#closed || this.#state.kind !== "offline") return;
    if (isGone) return this.#become({ kind: "gone" });
    this.#timer = window.setTimeout(() => this.#connect(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
  }

  /** A browser does not say why an upgrade was refused. */
  async #isGone(): Promise<boolean> {
    try {
      await this.daemon.polling.processes.get(this.processId);
      return false;
    } catch (error) {
      return error instanceof Problem && (error.status === 404 || error.status === 403);
    }
  }

  #say(frame: object): void {
    if (this.#state.kind === "open" && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.changed();
  }
}
