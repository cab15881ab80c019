/** The client: connects to a running daemon, or starts one. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Handlers } from "./answers.js";
import type { Daemon, StartOptions } from "./daemon.js";
import { NotADaemon, WrongUsage } from "./errors.js";
import { type HttpOptions, isNode } from "./http.js";
import { Operations, type SessionPage } from "./operations.js";
import { Sessions } from "./session.js";

/** `onPermission` and `onQuestion` apply to all sessions that have no handlers of their own. */
export interface ConnectOptions extends HttpOptions, Handlers {}

export class SandboxAgent extends Operations {
  readonly sessions: Sessions;
  readonly #daemon: Daemon | null;

  /** A client that sends nothing yet. `connect` tries address and token first. */
  constructor(options: ConnectOptions);
  /** @internal */
  constructor(options: ConnectOptions, daemon: Daemon | null);
  constructor(options: ConnectOptions, daemon: Daemon | null = null) {
    super(checked(options));
    this.sessions = new Sessions(this, options);
    this.#daemon = daemon;
  }

  /** Connect to a daemon. Checks the address and the token, and throws if one of them is wrong. */
  static async connect(options: ConnectOptions): Promise<SandboxAgent> {
    const client = new SandboxAgent(options);
    const answer = await client.http.once("sessions.list", { query: { limit: 1 } });
    const page = await client.http.decoded<SessionPage | null>(answer);
    if (Array.isArray(page?.sessions)) return client;
    throw new NotADaemon(`${client.baseUrl} answers, but not as a sandbox-agent daemon does`);
  }

  /** Start a daemon on a free port of this machine. It stops with `close()`, and always with this program. */
  static async start(options: StartOptions = {}): Promise<SandboxAgent> {
    if (!isNode()) {
      throw new WrongUsage(
        "a browser or worker cannot start a daemon: run `sandbox-agent server` and use SandboxAgent.connect({ baseUrl, token })",
      );
    }
    const { startDaemon } = await import("./daemon.js");
    const daemon = await startDaemon(options);
    return new SandboxAgent({ ...options, baseUrl: daemon.baseUrl, token: daemon.token }, daemon);
  }

  /** The token of this client's requests; pass it to other programs that use the daemon started by `start()`. */
  get token(): string | undefined {
    return this.#daemon?.token;
  }

  /** The process id of the daemon started by `start()`. */
  get daemonPid(): number | undefined {
    return this.#daemon?.pid;
  }

  /** Stop the daemon started by `start()`. Does nothing after `connect()`. */
  async close(): Promise<void> {
    await this.#daemon?.stop();
  }

  /** `close()`, for `await using client = await SandboxAgent.start()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function checked(options: ConnectOptions): ConnectOptions {
  if (typeof options?.baseUrl === "string") return options;
  throw new WrongUsage(
    'say where the daemon is: SandboxAgent.connect({ baseUrl: "http://127.0.0.1:2468", token }), ' +
      "or let SandboxAgent.start() start one",
  );
}
