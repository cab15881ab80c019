/** A terminal of a process: what it shows comes as bytes, what is typed goes in. */
import { DaemonUnreachable, WrongUsage } from "./errors.js";

/** What a terminal needs of a WebSocket: those of browsers, Node and the package `ws` have it. */
export interface SocketLike {
  binaryType: string;
  send(data: string): void;
  close(): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}

export interface TerminalOptions {
  /** A class of WebSockets, where the platform has none. */
  WebSocket?: (new (url: string) => SocketLike) | undefined;
}

type Said = { type: "ready" } | { type: "exit"; exitCode?: number | null } | { type: "error"; message: string };

/** Iterate over it for what it shows: the recent screen first. It ends with the process, or with `close()`. */
export class Terminal implements AsyncIterable<Uint8Array> {
  /** How the process ended; null as long as it runs, and after a signal. */
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
    if (!Socket) throw new WrongUsage("there is no WebSocket here: give one, as in terminal(id, { WebSocket })");
    const socket = new Socket(url);
    const terminal = new Terminal(socket);
    await new Promise<void>((resolve, reject) => {
      // A browser does not tell why: the operation `processes.get` does.
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

  /** Look no more. The process goes on. */
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
      const said = JSON.parse(data) as Said;
      if (said.type === "exit") this.exitCode = said.exitCode ?? null;
      if (said.type === "error") this.#failure = new WrongUsage(said.message);
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
