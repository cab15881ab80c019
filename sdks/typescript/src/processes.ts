/** Processes on the daemon's machine: start, inspect, write to and end them. Terminals are processes too. */
import { Http, type NodeOptions } from "./http.js";
import type { components, operations } from "./openapi.js";
import { follow, type StreamOptions } from "./stream.js";
import { Terminal, type TerminalOptions } from "./terminal.js";

type Schemas = components["schemas"];
type LogsQuery = NonNullable<operations["processes.logs"]["parameters"]["query"]>;

export type ProcessInfo = Schemas["ProcessInfo"];
export type ProcessList = Schemas["ProcessList"];
export type ProcessConfig = Schemas["ProcessConfig"];
export type ProcessRun = Schemas["ProcessRun"];
export type ProcessLogs = Schemas["ProcessLogs"];
export type ProcessLogEntry = Schemas["LogEntry"];
export type NewProcess = Schemas["CreateProcessBody"];
export type ProcessToRun = Schemas["RunProcessBody"];
export type ProcessInput = Schemas["WriteInputBody"];
export type TerminalSize = Schemas["TerminalSize"];
export type LogsOptions = Omit<LogsQuery, "follow"> & NodeOptions;

export class Processes {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** List running and ended processes. */
  list(query: { owner?: ProcessInfo["owner"] } & NodeOptions = {}): Promise<ProcessList> {
    const { signal, ...rest } = query;
    return this.#http.json("processes.list", { query: rest, signal });
  }

  /** Start a process that runs until it exits, is stopped, or the daemon stops. */
  create(body: NewProcess, options: NodeOptions = {}): Promise<ProcessInfo> {
    return this.#http.json("processes.create", { body, ...options });
  }

  /** Run a program to completion and return its output. */
  run(body: ProcessToRun, options: NodeOptions = {}): Promise<ProcessRun> {
    return this.#http.json("processes.run", { body, ...options });
  }

  /** Show the limits of processes. */
  config(options: NodeOptions = {}): Promise<ProcessConfig> {
    return this.#http.json("processes.config", options);
  }

  /** Replace the limits of processes. */
  configure(body: ProcessConfig, options: NodeOptions = {}): Promise<ProcessConfig> {
    return this.#http.json("processes.configure", { body, ...options });
  }

  /** Show a process. */
  get(processId: string, options: NodeOptions = {}): Promise<ProcessInfo> {
    return this.#http.json("processes.get", { path: { process_id: processId }, ...options });
  }

  /** Delete a process that has ended, and its output. */
  delete(processId: string, options: NodeOptions = {}): Promise<void> {
    return this.#http.done("processes.delete", { path: { process_id: processId }, ...options });
  }

  /** Send SIGTERM to a process and wait for its exit. A process that ignores it keeps running. */
  stop(processId: string, query: { waitMs?: number } & NodeOptions = {}): Promise<ProcessInfo> {
    const { signal, ...rest } = query;
    return this.#http.json("processes.stop", { path: { process_id: processId }, query: rest, signal });
  }

  /** Kill a process and everything it started (SIGKILL). */
  kill(processId: string, query: { waitMs?: number } & NodeOptions = {}): Promise<ProcessInfo> {
    const { signal, ...rest } = query;
    return this.#http.json("processes.kill", { path: { process_id: processId }, query: rest, signal });
  }

  /** Read the output of a process. */
  logs(processId: string, query: LogsOptions = {}): Promise<ProcessLogs> {
    const { signal, ...rest } = query;
    return this.#http.json("processes.logs", { path: { process_id: processId }, query: rest, signal });
  }

  /** Follow the output of a process until it ends. */
  async *followLogs(
    processId: string,
    query: LogsOptions & Pick<StreamOptions, "onConnection"> = {},
  ): AsyncGenerator<ProcessLogEntry, void, undefined> {
    const { signal, onConnection, ...rest } = query;
    const call = { path: { process_id: processId }, query: { ...rest, follow: true }, signal };
    for await (const frame of follow(this.#http, "processes.logs", call, { onConnection })) {
      yield JSON.parse(frame.data) as ProcessLogEntry;
    }
  }

  /** Write to the stdin of a process and wait until it is accepted. Text, unless an encoding is given. */
  input(processId: string, input: string | ProcessInput, options: NodeOptions = {}): Promise<{ bytesWritten: number }> {
    const body = typeof input === "string" ? { data: input, encoding: "utf8" } : input;
    return this.#http.json("processes.input", { path: { process_id: processId }, body, ...options });
  }

  /** Resize the terminal of a process. */
  resize(processId: string, size: TerminalSize, options: NodeOptions = {}): Promise<TerminalSize> {
    return this.#http.json("processes.resize", { path: { process_id: processId }, body: size, ...options });
  }

  /** The address of a terminal's WebSocket, for your own client. It contains the token. */
  terminalUrl(processId: string, node?: string): string {
    return this.#http.socketUrl("processes.terminal", { process_id: processId }, node);
  }

  /** Open the terminal of a process, to see its screen and type into it. Node before 22 needs `options.WebSocket`. */
  terminal(processId: string, options: TerminalOptions & { node?: string } = {}): Promise<Terminal> {
    return Terminal.open(this.terminalUrl(processId, options.node), options);
  }
}
