/** One method for each operation of the daemon, as docs/http-api.mdx lists them. */
import { Desktop } from "./desktop.js";
import { type ProblemDetails, problemOf, StreamError } from "./errors.js";
import type { Event } from "./events.js";
import { Fs } from "./fs.js";
import { type CallOptions, type Content, Http, type HttpOptions, type Operation, parted } from "./http.js";
import { randomHex } from "./ids.js";
import type { components, operations } from "./openapi.js";
import { Processes, type ProcessRun, type ProcessToRun } from "./processes.js";
import { endsTurn, eventOf, follow, followSession, type StreamOptions } from "./stream.js";
import type { ToolCallList, ToolReply } from "./tools.js";

type Schemas = components["schemas"];
type QueryOf<Name extends Operation> = NonNullable<operations[Name]["parameters"]["query"]>;

export type AgentList = Schemas["AgentList"];
export type AgentInfo = Schemas["AgentInfo"];
export type Installed = Schemas["Installed"];
/** One step of an installation. */
export type Progress = Schemas["Progress"];
export type Modes = Schemas["Modes"];
export type Models = Schemas["Models"];
export type SessionInfo = Schemas["SessionInfo"];
export type SessionSettings = Schemas["SessionSettingsBody"];
export type SessionPage = Schemas["SessionPage"];
export type CreatedSession = Schemas["CreatedSession"];
export type SessionUpdate = Schemas["UpdateSessionBody"];
export type Message = Schemas["SendMessageBody"];
export type Command = Schemas["Command"];
export type Commands = Schemas["Commands"];
export type SentMessage = Schemas["SentMessage"];
export type Queue = Schemas["Queue"];
export type QueuedMessage = Schemas["QueuedMessageInfo"];
export type PermissionList = Schemas["PermissionList"];
export type PermissionReply = Schemas["ReplyPermissionBody"];
export type QuestionList = Schemas["QuestionList"];
export type QuestionReply = Schemas["ReplyQuestionBody"];
export type PolicyRule = Schemas["PolicyRule"];
export type PolicyList = Schemas["PolicyList"];
export type PolicyVerdict = Schemas["PolicyVerdict"];
export type ChangeList = Schemas["ChangeList"];
export type ChangedFile = Schemas["ChangedFile"];
export type Revert = Schemas["RevertChangesBody"];
export type Reverted = Schemas["Reverted"];
export type McpServer = Schemas["McpServer"];
export type McpServerList = Schemas["McpServerList"];
export type SkillList = Schemas["SkillList"];
export type SkillsConfig = Schemas["SkillsConfig"];
export type StoredAttachment = Schemas["StoredAttachment"];
export type EventPage = { events: Event[]; hasMore: boolean };
/** The daemons that share the log. */
export type NodeList = Schemas["NodeList"];
export type UsageQuery = QueryOf<"usage.get">;
export type UsageReport = Schemas["UsageReport"];
/** What some turns have spent. What is unknown is absent, not zero. */
export type UsageSum = Schemas["UsageSum"];
/** Limits to set: an absent one stays as it is, null removes it. */
export type Limits = Schemas["Limits"];
export type ReachedLimit = Schemas["ReachedLimit"];
export type Health = Schemas["Health"];
export type Readiness = Schemas["Readiness"];

export interface MessageOptions extends CallOptions {
  /** A repeated key returns the same turn (default: a new key). */
  idempotencyKey?: string | undefined;
}

export interface InstallOptions extends CallOptions {
  /** Called with each step of the installation. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** An element of the stream of all sessions: an event with its position in the whole log, or an update of a session. */
export type LogEntry =
  | { readonly kind: "event"; readonly position: number; readonly event: Event }
  | { readonly kind: "session"; readonly session: SessionInfo & { readonly deleted?: true } };

/**
 * A client with one method for each operation, and nothing else: no `sessions`, no turns. A page that needs no more loads
 * a third less.
 */
export class Operations {
  /** @internal */
  readonly http: Http;
  /** Processes and terminals on the daemon's machine. */
  readonly processes: Processes;
  /** Files on the daemon's machine. */
  readonly fs: Fs;
  /** The virtual desktop on the daemon's machine. */
  readonly desktop: Desktop;

  constructor(options: HttpOptions) {
    this.http = new Http(options);
    this.processes = new Processes(this.http);
    this.fs = new Fs(this.http);
    this.desktop = new Desktop(this.http);
  }

  /** The address that requests go to. */
  get baseUrl(): string {
    return this.http.baseUrl;
  }

  // -- agents -------------------------------------------------------------------------------------

  /** List the agents: installed or not, version, credentials, capabilities. */
  listAgents(query: QueryOf<"agents.list"> & CallOptions = {}): Promise<AgentList> {
    return this.http.json("agents.list", parted(query));
  }

  /** Show an agent; with `config`, also what its sessions may choose. */
  getAgent(agent: string, query: QueryOf<"agents.get"> & CallOptions = {}): Promise<AgentInfo> {
    return this.http.json("agents.get", { path: { agent }, ...parted(query) });
  }

  /** Install an agent, unless it is installed. Returns its version and path. */
  async installAgent(
    agent: string,
    body: Schemas["InstallAgentBody"] = {},
    options: InstallOptions = {},
  ): Promise<Installed> {
    const { onProgress, signal } = options;
    const call = { path: { agent }, body, signal };
    if (!onProgress) return this.http.json("agents.install", call);
    // A repeated request gets the progress of the first one.
    const headers = { accept: "text/event-stream" };
    for await (const { name, data } of follow(this.http, "agents.install", { ...call, headers })) {
      if (name === "progress") onProgress(JSON.parse(data) as Progress);
      if (name === "result") return JSON.parse(data) as Installed;
      if (name === "problem") throw problemOf(JSON.parse(data) as ProblemDetails);
    }
    const detail = "the daemon ended the stream without a result";
    throw new StreamError({ type: "stream_error", title: "Stream error", status: 502, detail });
  }

  /** List an agent's modes in a directory. */
  listModes(agent: string, query: QueryOf<"agents.modes"> & CallOptions = {}): Promise<Modes> {
    return this.http.json("agents.modes", { path: { agent }, ...parted(query) });
  }

  /** List an agent's models and their variants in a directory. */
  listModels(agent: string, query: QueryOf<"agents.models"> & CallOptions = {}): Promise<Models> {
    return this.http.json("agents.models", { path: { agent }, ...parted(query) });
  }

  /** List the commands that a new session of the agent in a directory would have. */
  listAgentCommands(agent: string, query: QueryOf<"agents.commands"> & CallOptions = {}): Promise<Commands> {
    return this.http.json("agents.commands", { path: { agent }, ...parted(query) });
  }

  // -- sessions -----------------------------------------------------------------------------------

  /** Create a session with an id of your choice and start its agent. */
  createSession(sessionId: string, body: SessionSettings, options: CallOptions = {}): Promise<CreatedSession> {
    return this.http.json("sessions.create", { path: { session_id: sessionId }, body, ...options });
  }

  /** Create a session with an id chosen by the daemon. */
  newSession(body: SessionSettings, options: CallOptions = {}): Promise<CreatedSession> {
    return this.http.json("sessions.new", { body, ...options });
  }

  /** List sessions, newest first. */
  listSessions(query: QueryOf<"sessions.list"> & CallOptions = {}): Promise<SessionPage> {
    return this.http.json("sessions.list", parted(query));
  }

  /** Show a session. */
  getSession(sessionId: string, options: CallOptions = {}): Promise<SessionInfo> {
    return this.http.json("sessions.get", { path: { session_id: sessionId }, ...options });
  }

  /** Rename a session, or switch its model, variant or modes. */
  updateSession(sessionId: string, body: SessionUpdate, options: CallOptions = {}): Promise<SessionInfo> {
    return this.http.json("sessions.update", { path: { session_id: sessionId }, body, ...options });
  }

  /** Terminate a session and delete it with its events. */
  deleteSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.http.done("sessions.delete", { path: { session_id: sessionId }, ...options });
  }

  /**
   * End the running turn and keep the session; the next queued message then starts. With `turnId`, only that turn is
   * cancelled, or withdrawn if it is queued.
   */
  cancelSession(sessionId: string, query: QueryOf<"sessions.cancel"> & CallOptions = {}): Promise<void> {
    return this.http.done("sessions.cancel", { path: { session_id: sessionId }, ...parted(query) });
  }

  /** End the session and every process it started. */
  terminateSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.http.done("sessions.terminate", { path: { session_id: sessionId }, ...options });
  }

  /** Stop the process of an idle agent; the next message resumes the conversation. */
  suspendSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.http.done("sessions.suspend", { path: { session_id: sessionId }, ...options });
  }

  // -- messages -----------------------------------------------------------------------------------

  /** Send a message. Resolves as soon as it is durable. While a turn runs, the message is queued. */
  sendMessage(sessionId: string, message: string | Message, options: MessageOptions = {}): Promise<SentMessage> {
    return this.http.json("sessions.send_message", messageCall(sessionId, message, options));
  }

  /** Send a message and stream the events of its turn until it ends. */
  async *streamMessage(
    sessionId: string,
    message: string | Message,
    options: MessageOptions = {},
  ): AsyncGenerator<Event, void, undefined> {
    let turnId = "";
    for await (const frame of follow(this.http, "sessions.stream_message", messageCall(sessionId, message, options))) {
      const event = eventOf(frame);
      if (event.type === "turn.started") turnId ||= event.data.turn_id;
      yield event;
      // A message that was withdrawn gives a single event, which is the last.
      if (turnId === "" || endsTurn(event, turnId)) return;
    }
  }

  /** List the slash commands and prompt templates that the agent offers in this session. */
  listCommands(sessionId: string, options: CallOptions = {}): Promise<Commands> {
    return this.http.json("sessions.commands", { path: { session_id: sessionId }, ...options });
  }

  /** Run a command of the agent as a turn. Like a message, it waits in the queue while another turn runs. */
  runCommand(
    sessionId: string,
    name: string,
    body: { arguments?: string; fresh?: boolean } = {},
    options: MessageOptions = {},
  ): Promise<SentMessage> {
    const path = { session_id: sessionId, name };
    return this.http.json("sessions.run_command", { path, body, ...keyed(options) });
  }

  /** Replace the conversation so far with a summary, as a turn. Refused if the agent does not support it. */
  compactSession(sessionId: string, options: MessageOptions = {}): Promise<SentMessage> {
    return this.http.json("sessions.compact", { path: { session_id: sessionId }, ...keyed(options) });
  }

  /** List the queued messages, oldest first. */
  getQueue(sessionId: string, query: QueryOf<"sessions.queue"> & CallOptions = {}): Promise<Queue> {
    return this.http.json("sessions.queue", { path: { session_id: sessionId }, ...parted(query) });
  }

  /** Withdraw a queued message. */
  withdrawMessage(sessionId: string, turnId: string, options: CallOptions = {}): Promise<void> {
    return this.http.done("sessions.withdraw", { path: { session_id: sessionId, turn_id: turnId }, ...options });
  }

  /** Upload a file for use in a message. */
  uploadAttachment(
    sessionId: string,
    content: Blob | ArrayBuffer | ArrayBufferView | string,
    options: QueryOf<"attachments.upload"> & CallOptions & { contentType?: string } = {},
  ): Promise<StoredAttachment> {
    const { contentType, ...rest } = options;
    const mime = contentType ?? (content instanceof Blob && content.type ? content.type : "application/octet-stream");
    const parts = { path: { session_id: sessionId }, headers: { "content-type": mime }, content: content as Content };
    return this.http.json("attachments.upload", { ...parts, ...parted(rest) });
  }

  /** Read an attachment back; its name is the last part of its path. */
  async getAttachment(sessionId: string, name: string, options: CallOptions = {}): Promise<Blob> {
    const answer = await this.http.send("attachments.get", { path: { session_id: sessionId, name }, ...options });
    return answer.blob();
  }

  // -- changes ------------------------------------------------------------------------------------

  /** Show what has changed in the session's directory since the session began, file by file. */
  listChanges(sessionId: string, options: CallOptions = {}): Promise<ChangeList> {
    return this.http.json("changes.list", { path: { session_id: sessionId }, ...options });
  }

  /** Restore files to their state when the session began. `undoRevert` restores what was overwritten or removed. */
  revertChanges(sessionId: string, body: Revert, options: CallOptions = {}): Promise<Reverted> {
    return this.http.json("changes.revert", { path: { session_id: sessionId }, body, ...options });
  }

  /** Undo the last revert. */
  undoRevert(sessionId: string, options: CallOptions = {}): Promise<Reverted> {
    return this.http.json("changes.undo", { path: { session_id: sessionId }, ...options });
  }

  // -- MCP servers and skills -----------------------------------------------------------------------

  /** List a session's MCP servers, with the state and the tools that its agent reports. */
  listMcpServers(sessionId: string, options: CallOptions = {}): Promise<McpServerList> {
    return this.http.json("sessions.mcp", { path: { session_id: sessionId }, ...options });
  }

  /** List a session's skills, with their sources and commits. */
  listSkills(sessionId: string, options: CallOptions = {}): Promise<SkillList> {
    return this.http.json("sessions.skills", { path: { session_id: sessionId }, ...options });
  }

  /** Show an MCP server of a directory. */
  getMcpConfig(query: QueryOf<"config.get_mcp"> & CallOptions): Promise<McpServer> {
    return this.http.json("config.get_mcp", parted(query));
  }

  /** Add an MCP server to a directory: sessions that are created in it from then on get it. */
  setMcpConfig(query: QueryOf<"config.set_mcp"> & CallOptions, body: McpServer): Promise<void> {
    return this.http.done("config.set_mcp", { body, ...parted(query) });
  }

  /** Remove an MCP server from a directory. Sessions that have it keep it. */
  deleteMcpConfig(query: QueryOf<"config.delete_mcp"> & CallOptions): Promise<void> {
    return this.http.done("config.delete_mcp", parted(query));
  }

  /** Show one entry of a directory's skills. */
  getSkillsConfig(query: QueryOf<"config.get_skills"> & CallOptions): Promise<SkillsConfig> {
    return this.http.json("config.get_skills", parted(query));
  }

  /** Add skills to a directory: sessions that are created in it from then on get them. */
  setSkillsConfig(query: QueryOf<"config.set_skills"> & CallOptions, body: SkillsConfig): Promise<void> {
    return this.http.done("config.set_skills", { body, ...parted(query) });
  }

  /** Remove skills from a directory. Sessions that have them keep them. */
  deleteSkillsConfig(query: QueryOf<"config.delete_skills"> & CallOptions): Promise<void> {
    return this.http.done("config.delete_skills", parted(query));
  }

  // -- permissions and questions ------------------------------------------------------------------

  /** List the pending permissions. */
  listPermissions(sessionId: string, options: CallOptions = {}): Promise<PermissionList> {
    return this.http.json("permissions.list", { path: { session_id: sessionId }, ...options });
  }

  /** Answer a permission; the second answer gets a conflict. */
  replyPermission(
    sessionId: string,
    permissionId: string,
    body: PermissionReply,
    options: CallOptions = {},
  ): Promise<void> {
    const path = { session_id: sessionId, permission_id: permissionId };
    return this.http.done("permissions.reply", { path, body, ...options });
  }

  /** List the pending questions. */
  listQuestions(sessionId: string, options: CallOptions = {}): Promise<QuestionList> {
    return this.http.json("questions.list", { path: { session_id: sessionId }, ...options });
  }

  /** Answer a question; the second answer gets a conflict. */
  replyQuestion(sessionId: string, questionId: string, body: QuestionReply, options: CallOptions = {}): Promise<void> {
    const path = { session_id: sessionId, question_id: questionId };
    return this.http.done("questions.reply", { path, body, ...options });
  }

  /** Reject a question. */
  rejectQuestion(sessionId: string, questionId: string, options: CallOptions = {}): Promise<void> {
    const path = { session_id: sessionId, question_id: questionId };
    return this.http.done("questions.reject", { path, ...options });
  }

  // -- tools of the client ------------------------------------------------------------------------

  /** List pending calls to the client's tools. */
  listToolCalls(sessionId: string, options: CallOptions = {}): Promise<ToolCallList> {
    return this.http.json("tool_calls.list", { path: { session_id: sessionId }, ...options });
  }

  /** Answer a call with the tool's output or its error; the second answer gets a conflict. */
  replyToolCall(sessionId: string, callId: string, body: ToolReply, options: CallOptions = {}): Promise<void> {
    return this.http.done("tool_calls.reply", { path: { session_id: sessionId, call_id: callId }, body, ...options });
  }

  // -- rules --------------------------------------------------------------------------------------

  /** Show the rules of a session: the operator's, then its own. */
  getPolicy(sessionId: string, options: CallOptions = {}): Promise<PolicyList> {
    return this.http.json("policy.show", { path: { session_id: sessionId }, ...options });
  }

  /** Show what would happen to a request of an agent, and which rule decides. */
  testPolicy(body: Schemas["TestPolicyBody"], options: CallOptions = {}): Promise<PolicyVerdict> {
    return this.http.json("policy.test", { body, ...options });
  }

  // -- events -------------------------------------------------------------------------------------

  /** Read a page of events after an offset, oldest first. */
  getEvents(sessionId: string, query: QueryOf<"sessions.events"> & CallOptions = {}): Promise<EventPage> {
    return this.http.json("sessions.events", { path: { session_id: sessionId }, ...parted(query) });
  }

  /** Stream events after an offset, then every new one, until the session has ended. */
  async *streamEvents(
    sessionId: string,
    query: QueryOf<"sessions.events_sse"> & CallOptions & Pick<StreamOptions, "onConnection"> = {},
  ): AsyncGenerator<Event, void, undefined> {
    yield* followSession(this.http, sessionId, query);
  }

  /** Stream the events of all sessions, and updates when one is created, changed or deleted; from now on, or after `offset`. */
  async *streamAllEvents(
    options: { offset?: number | undefined } & CallOptions & StreamOptions = {},
  ): AsyncGenerator<LogEntry, void, undefined> {
    const { offset, signal, ...connection } = options;
    const call = { query: { offset }, signal };
    for await (const frame of follow(this.http, "events.sse", call, { after: offset, ...connection })) {
      if (frame.name === "session") yield { kind: "session", session: JSON.parse(frame.data) as SessionInfo };
      else if (frame.id !== null) yield { kind: "event", position: frame.id, event: eventOf(frame) };
    }
  }

  // -- processes ----------------------------------------------------------------------------------

  /** Run a program on the daemon's machine and wait until it exits: `(await client.exec("git", ["status"])).stdout`. */
  exec(
    command: string,
    args: string[] = [],
    options: Omit<ProcessToRun, "command" | "args"> & CallOptions = {},
  ): Promise<ProcessRun> {
    const { signal, ...rest } = options;
    return this.processes.run({ command, args, ...rest }, { signal });
  }

  // -- the daemon ---------------------------------------------------------------------------------

  /** Check that the daemon is running, and get its version. */
  getHealth(options: CallOptions = {}): Promise<Health> {
    return this.http.json("system.health", options);
  }

  /** Sum up what turns have spent, by day or by `by`. Unknown figures are absent, not zero. */
  getUsage(query: UsageQuery = {}, options: CallOptions = {}): Promise<UsageReport> {
    return this.http.json("usage.get", { query, ...options });
  }

  /** List the daemons that share the log. */
  listNodes(options: CallOptions = {}): Promise<NodeList> {
    return this.http.json("nodes.list", options);
  }

  /** Fence a node at once, instead of waiting for its lease. */
  fenceNode(name: string, options: CallOptions = {}): Promise<void> {
    return this.http.done("nodes.fence", { path: { name }, ...options });
  }

  /** Check whether the daemon accepts new work: the log can be written, and it is not stopping. */
  getReadiness(options: CallOptions = {}): Promise<Readiness> {
    return this.http.json("system.ready", options);
  }

  /** Read the metrics, in the text format of Prometheus. */
  async getMetrics(options: CallOptions = {}): Promise<string> {
    const answer = await this.http.send("system.metrics", options);
    return answer.text();
  }
}

/** A message or a command with an idempotency key: it becomes one turn, however often it is sent. */
function keyed(options: MessageOptions) {
  const headers = { "idempotency-key": options.idempotencyKey ?? randomHex() };
  return { headers, signal: options.signal };
}

function messageCall(sessionId: string, message: string | Message, options: MessageOptions) {
  return {
    path: { session_id: sessionId },
    body: typeof message === "string" ? { message } : message,
    ...keyed(options),
  };
}
