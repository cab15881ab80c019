/** The client: connects to a running daemon, or starts one. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Handlers } from "./answers.js";
import type { Daemon, StartOptions } from "./daemon.js";
import { NotADaemon, WrongUsage } from "./errors.js";
import { type HttpOptions, isNode } from "./http.js";
import { Operations, type SessionPage } from "./operations.js";
import type { SandboxProvider, StartedSandbox } from "./sandbox.js";
import { Sessions } from "./session.js";

/** `onPermission` and `onQuestion` apply to all sessions that have no handlers of their own. */
export interface ConnectOptions extends HttpOptions, Handlers {}

export class SandboxAgent extends Operations {
  readonly sessions: Sessions;
  readonly #daemon: Daemon | null;
  readonly #started: StartedSandbox | null;

  /** A client that sends nothing yet. `connect` tries address and token first. */
  constructor(options: ConnectOptions);
  /** @internal */
  constructor(options: ConnectOptions, daemon: Daemon | null, started?: StartedSandbox | null);
  constructor(options: ConnectOptions, daemon: Daemon | null = null, started: StartedSandbox | null = null) {
    super(checked(options));
    this.sessions = new Sessions(this, options);
    this.#daemon = daemon;
    if (daemon) this.http.daemonEnded = () => daemon.ended();
    this.#started = started;
  }

  /** Connect to a daemon. Checks the address and the token, and throws if one of them is wrong. */
  static async connect(options: ConnectOptions): Promise<SandboxAgent> {
    const client = new SandboxAgent(options);
    const answer = await client.http.once("sessions.list", { query: { limit: 1 } });
    const page = await client.http.decoded<SessionPage | null>(answer);
    if (Array.isArray(page?.sessions)) return client;
    throw new NotADaemon(`${client.baseUrl} answers, but not as a sandbox-agent daemon does`);
  }

  /**
   * Start a daemon on a free port of this machine. It stops with `close()`, and always with this program.
   *
   * With `sandbox`, start it in a sandbox of a provider instead: the sandbox is created, or found by its `name`.
   */
  static async start(options: StartOptions = {}): Promise<SandboxAgent> {
    if (options.sandbox !== undefined) return SandboxAgent.#startSandbox(options.sandbox, options);
    if (!isNode()) {
      throw new WrongUsage(
        "a browser or worker cannot start a daemon: run `sandbox-agent server` and use SandboxAgent.connect({ baseUrl, token })",
      );
    }
    if (options.name !== undefined) throw new WrongUsage("`name` is the name of a sandbox: pass `sandbox` as well");
    const { startDaemon } = await import("./daemon.js");
    const daemon = await startDaemon(options);
    return new SandboxAgent({ ...options, baseUrl: daemon.baseUrl, token: daemon.token }, daemon);
  }

  static async #startSandbox(provider: SandboxProvider, options: StartOptions): Promise<SandboxAgent> {
    const { startSandbox } = await import("./sandbox.js");
    const started = await startSandbox(provider, options);
    const { baseUrl, token, fetch = options.fetch } = started.sandbox;
    return new SandboxAgent({ ...options, baseUrl, token, fetch }, null, started);
  }

  /** The token of this client's requests; pass it to other programs that use the daemon started by `start()`. */
  get token(): string | undefined {
    return this.#daemon?.token ?? this.#started?.sandbox.token;
  }

  /** The process id of the daemon that `start()` started on this machine. */
  get daemonPid(): number | undefined {
    return this.#daemon?.pid;
  }

  /** The name of the sandbox that `start()` created or found. */
  get sandboxName(): string | undefined {
    return this.#started?.name;
  }

  /** Stop the sandbox and keep its files. `start()` with the same `name` resumes it. */
  async pause(): Promise<void> {
    const { sandbox, isTemporary } = this.#inSandbox();
    if (isTemporary) {
      throw new WrongUsage("a sandbox without a name cannot be found again: give start() a `name` to pause and resume it");
    }
    if (sandbox.pause === undefined) throw new WrongUsage("this provider cannot pause a sandbox and keep its files");
    await sandbox.pause();
  }

  /** Delete the sandbox with its files. */
  async kill(): Promise<void> {
    await this.#inSandbox().sandbox.kill();
  }

  /**
   * Stop the daemon that `start()` started on this machine, or delete the sandbox if it has no name of yours. Does nothing
   * after `connect()`.
   */
  async close(): Promise<void> {
    await this.#daemon?.stop();
    if (this.#started?.isTemporary) await this.#started.sandbox.kill();
  }

  #inSandbox(): StartedSandbox {
    if (this.#started !== null) return this.#started;
    throw new WrongUsage("this client has no sandbox: only a client from start({ sandbox }) has one");
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
