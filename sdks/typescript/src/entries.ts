/**
 * The entries of a transcript: one for each thing that a reader looks at.
 *
 * Names are camelCase and absent values are null, so that a page can show an entry without checking what is defined.
 */
import type {
  AskedQuestion,
  DecidedBy,
  FileRef,
  Image,
  RuleReference,
  SessionMetadata,
  Stderr,
  StopReason,
  ToolKind,
  Usage,
} from "./events.js";

export type EntryStatus = "in_progress" | "completed" | "failed";

interface Base {
  /** Stable and unique in the transcript; good as a React key. */
  readonly id: string;
  /** Sequence of the event that created it. */
  readonly sequence: number;
  /** When it began (ISO 8601), as the event says. */
  readonly time: string;
  /** The turn that was open then. */
  readonly turnId: string | null;
  readonly source: "agent" | "daemon";
}

interface ItemBase extends Base {
  readonly status: EntryStatus;
  /** `parent_id` of the item. Only what a sub-agent does is nested: see `ToolEntry.children`. */
  readonly parentId: string | null;
  /** When it was complete; null while it streams. */
  readonly endedAt: string | null;
}

/** A message of the user, the agent or (role `system`) the agent's program. */
export interface MessageEntry extends ItemBase {
  readonly kind: "message";
  readonly role: "user" | "assistant" | "system";
  readonly text: string;
  readonly files: readonly FileRef[];
  readonly images: readonly Image[];
}

/** Thinking of the agent. */
export interface ReasoningEntry extends ItemBase {
  readonly kind: "reasoning";
  readonly text: string;
  readonly visibility: "public" | "private";
}

/** A tool call joined with its result. */
export interface ToolEntry extends ItemBase {
  readonly kind: "tool";
  readonly callId: string;
  readonly name: string;
  /** What it does, independent of the agent's name for it. */
  readonly toolKind: ToolKind;
  /** One line for people: the command, the path, the query; at least the name. */
  readonly title: string;
  /** The arguments as JSON; fragments of it while `argumentsFinal` is false. */
  readonly arguments: string;
  readonly argumentsFinal: boolean;
  /** The arguments, parsed once they are final; null before, and when they are not JSON. */
  readonly input: unknown;
  /** The output; a preview of it while `outputFinal` is false. */
  readonly output: string;
  readonly outputFinal: boolean;
  readonly exitCode: number | null;
  /** Changes that were made, with unified diffs. */
  readonly files: readonly FileRef[];
  readonly images: readonly Image[];
  /** From the call to its result; null while it runs. */
  readonly durationMs: number | null;
  /** Permissions that were asked for this call. */
  readonly permissionIds: readonly string[];
  /** What a sub-agent did that this call started. */
  readonly children: readonly Entry[];
}

/** A fact: usage, plan, title, retry, compaction, queue, injected, resume_lost, tool_request, ... */
export interface StatusEntry extends ItemBase {
  readonly kind: "status";
  readonly label: string;
  readonly detail: string | null;
  readonly data: unknown;
}

/** An item of a kind that the daemon does not know. */
export interface UnknownEntry extends ItemBase {
  readonly kind: "unknown";
  readonly data: unknown;
}

export interface PermissionEntry extends Base {
  readonly kind: "permission";
  readonly permissionId: string;
  readonly action: string;
  readonly toolName: string;
  readonly toolKind: ToolKind;
  /** One line for people: the command, the path, the query; at least the name. */
  readonly title: string;
  readonly callId: string | null;
  readonly input: unknown;
  readonly paths: readonly string[];
  readonly diff: string | null;
  readonly reason: string | null;
  readonly state: "requested" | "accept" | "accept_for_session" | "reject";
  readonly decidedBy: DecidedBy | null;
  /** The rule that decided; null also for an earlier "always". */
  readonly rule: RuleReference | null;
  readonly message: string | null;
  readonly resolvedAt: string | null;
}

export interface QuestionEntry extends Base {
  readonly kind: "question";
  readonly questionId: string;
  readonly prompt: string;
  readonly options: readonly string[];
  readonly questions: readonly AskedQuestion[];
  /** A plan that needs approval. */
  readonly isPlan: boolean;
  readonly callId: string | null;
  readonly state: "requested" | "answered" | "rejected";
  readonly response: string | null;
  readonly answers: readonly (readonly string[])[] | null;
  readonly decidedBy: DecidedBy | null;
  readonly message: string | null;
  readonly resolvedAt: string | null;
}

export interface ErrorEntry extends Base {
  readonly kind: "error";
  readonly message: string;
  readonly code: string | null;
  readonly details: unknown;
}

/** A native payload that the daemon failed to understand. */
export interface UnparsedEntry extends Base {
  readonly kind: "unparsed";
  readonly error: string;
  readonly location: string;
}

/** An event of a type that this client does not know. */
export interface OtherEntry extends Base {
  readonly kind: "other";
  readonly type: string;
  readonly data: unknown;
}

export interface TurnStartedEntry extends Base {
  readonly kind: "turn_started";
  readonly turnId: string;
}

export interface TurnEndedEntry extends Base {
  readonly kind: "turn_ended";
  readonly turnId: string;
  readonly stopReason: StopReason;
  readonly durationMs: number;
  /** How much of it was spent waiting for answers to permissions and questions. */
  readonly waitingMs: number;
  readonly usage: Usage | null;
}

export interface SessionStartedEntry extends Base {
  readonly kind: "session_started";
  readonly metadata: SessionMetadata | null;
}

export interface SessionEndedEntry extends Base {
  readonly kind: "session_ended";
  readonly reason: "completed" | "error" | "terminated";
  readonly terminatedBy: "agent" | "daemon";
  readonly message: string | null;
  readonly exitCode: number | null;
  readonly stderr: Stderr | null;
}

export type Entry =
  | MessageEntry
  | ReasoningEntry
  | ToolEntry
  | StatusEntry
  | UnknownEntry
  | PermissionEntry
  | QuestionEntry
  | ErrorEntry
  | UnparsedEntry
  | OtherEntry
  | TurnStartedEntry
  | TurnEndedEntry
  | SessionStartedEntry
  | SessionEndedEntry;

export interface PlanStep {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** Sums over the whole session. */
export interface Totals {
  readonly events: number;
  readonly turns: number;
  readonly messages: number;
  readonly toolCalls: number;
  readonly failedToolCalls: number;
  readonly errors: number;
  /** The duration of all turns. */
  readonly durationMs: number;
  /** The part of it spent waiting for answers. */
  readonly waitingMs: number;
  /** What turns have spent, and how full the context is now; figures that the agent did not report are absent. */
  readonly usage: Usage;
}

export interface Transcript {
  readonly sessionId: string | null;
  readonly nativeSessionId: string | null;
  /** What the session was started with. */
  readonly metadata: SessionMetadata | null;
  readonly state: "idle" | "running" | "requires_action" | "ended";
  readonly title: string | null;
  /** The latest plan or todo list. */
  readonly plan: readonly PlanStep[];
  /** The turn that is open. */
  readonly turnId: string | null;
  readonly entries: readonly Entry[];
  /** Requests that need an answer, oldest first. A status is a call to a client's tool, with the label `tool_request`. */
  readonly pending: readonly (PermissionEntry | QuestionEntry | StatusEntry)[];
  /** Messages that wait in the queue, as turn ids. */
  readonly queued: readonly string[];
  readonly ended: SessionEndedEntry | null;
  /** The sequence of the last folded event: the offset to continue from. */
  readonly lastSequence: number;
  readonly totals: Totals;
}
