/** The TypeScript client of sandbox-agent. */
export type { Handlers, OnPermission, OnQuestion, PermissionAnswer, QuestionAnswer, Reply } from "./answers.js";
export { SandboxAgent, type ConnectOptions } from "./client.js";
export type { StartOptions } from "./daemon.js";
export type * from "./entries.js";
export * from "./errors.js";
export type * from "./events.js";
export type * from "./desktop.js";
export type * from "./fs.js";
export type { CallOptions, HttpOptions, NodeOptions, Operation } from "./http.js";
export { METHODS } from "./methods.js";
export { Operations } from "./operations.js";
export type * from "./operations.js";
export type * from "./processes.js";
export type { Sandbox, SandboxProvider, SandboxRequest } from "./sandbox.js";
export type { Session, Sessions, CreateOptions, EventsOptions, PromptOptions } from "./session.js";
export { planOf } from "./plan.js";
export { TOOL_REQUEST } from "./requests.js";
export type { StreamConnection, StreamOptions } from "./stream.js";
export type { SocketLike, Terminal, TerminalOptions } from "./terminal.js";
export {
  type ClientTool,
  type ToolCallList,
  type ToolImage,
  type ToolReply,
  type ToolRequest,
  type ToolSchema,
  type ToolSpec,
  toolImage,
} from "./tools.js";
export { foldTranscript, TranscriptFold } from "./transcript.js";
export type { Turn, TurnOptions, TurnResult } from "./turn.js";
export { VERSION } from "./version.js";
