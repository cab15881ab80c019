/** The terminal of a process: output arrives as bytes, and input can be typed. */
import { DaemonUnreachable, WrongUsage } from "./errors.js";

/** The part of a WebSocket that a terminal needs; those of browsers, Node and the package `ws` have it. */
export interface SocketLike {
  binaryType: string;
  send(data: string): void;
  close(): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}

export interface TerminalOptions {
  /** A WebSocket class, for platforms without one. */
  WebSocket?: (new (url: string) => SocketLike) | undefined;
}

type Control = { type: "ready" } | { type: "exit"; exitCode?: number | null } | { type: "error"; message: string };

/** Iterate over it to get its output, starting with the recent screen. It ends with the process, or with `close()`. */
export class Terminal implements AsyncIterable<Uint8Array> {
  /** The exit code of the process; null while it runs, and after a signal. */
  exitCode: number | null = null;
  readonly #socket: SocketLike;
  readonly #shown: Uint8Array[] = [];
  #failure: Error | null = null;
  #isOver = false;
  #wake: () => void = () => undefined;

  private constructor(socket: SocketLike) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event: { data: string | ArrayBuffer }) => this.#take(event.data));
    socket.addEventListener("close", () => this.#end());
  }

  /** @internal */
  static async open(url: string, options: TerminalOptions): Promise<Terminal> {
    const Socket = options.WebSocket ?? (globalThis as { WebSocket?: new (url: string) => SocketLike }).WebSocket;
    if (!Socket) throw new WrongUsage("this platform has no WebSocket: pass one, as in terminal(id, { WebSocket })");
    const socket = new Socket(url);
    const terminal = new Terminal(socket);
    await new Promise<void>((resolve, reject) => {
      // A browser does not report why; `processes.get` does.
      const refused = (): void => reject(new DaemonUnreachable("the terminal could not be opened"));
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", refused);
      socket.addEventListener("close", refused);
    });
    return terminal;
  }

  /** Type something. */
  write(data: string | Uint8Array): void {
    if (typeof data === "string") this.#send({ type: "input", data });
    else this.#send({ type: "input", data: base64(data), encoding: "base64" });
  }

  resize(cols: number, rows: number): void {
    this.#send({ type: "resize", cols, rows });
  }

  /** Close the connection. The process keeps running. */
  close(): void {
    this.#socket.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      yield* this.#shown.splice(0);
      if (this.#failure) throw this.#failure;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(data: string | ArrayBuffer): void {
    if (typeof data !== "string") this.#shown.push(new Uint8Array(data));
    else {
      const control = JSON.parse(data) as Control;
      if (control.type === "exit") this.exitCode = control.exitCode ?? null;
      if (control.type === "error") this.#failure = new WrongUsage(control.message);
    }
    this.#wake();
  }

  #end(): void {
    this.#isOver = true;
    this.#wake();
  }

  #send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
