/**
 * All errors of this package, as one tree. Each problem type of the daemon has a class.
 *
 * SandboxAgentError
 * ├── WrongUsage             the program must be changed; the message says how
 * ├── DaemonUnreachable      no answer came
 * ├── DaemonNotStarted       `SandboxAgent.start()` failed; the message has the daemon's output
 * ├── NotADaemon             something else answered at this address
 * ├── TurnError              a turn did not succeed: `transcript` is what happened so far
 * │   ├── TurnFailed             it ended with an error, at a limit, or with an unknown outcome
 * │   ├── TurnTimeout            it took longer than your `timeoutMs`, and was cancelled
 * │   └── AnswerNeeded           the agent asked, and no handler answered
 * └── Problem                the daemon refused the request: `type`, `status`, `detail`, and `facts`
 *     ├── InvalidRequest 400      ├── Conflict 409               ├── RateLimited 429
 *     ├── UnsupportedAgent 400    ├── SessionAlreadyExists 409   ├── Internal 500
 *     ├── ModeNotSupported 400    ├── PreconditionFailed 412     ├── InstallFailed 500
 *     ├── TokenInvalid 401        ├── PayloadTooLarge 413        ├── AgentProcessExited 500
 *     ├── PermissionDenied 403    ├── UnsupportedMediaType 415   ├── StreamError 502
 *     ├── AgentNotInstalled 404   ├── RangeNotSatisfiable 416    ├── Unavailable 503
 *     ├── SessionNotFound 404     ├── MisdirectedHost 421        └── Timeout 504
 *     ├── NotFound 404            ├── IdempotencyMismatch 422
 *     ├── MethodNotAllowed 405
 *     ├── DesktopInvalidAction 400   ├── WindowNotFound 404         └── DesktopRuntimeFailed 503
 *     └── AppNotFound 404            └── DesktopRuntimeInactive 409
 */
import type { Transcript } from "./entries.js";
import type { PermissionRequested, QuestionRequested, Stderr, StopReason } from "./events.js";
import type { ToolRequest } from "./tools.js";

const URN = "urn:sandbox-agent:error:";

export class SandboxAgentError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The program uses this package in a way that cannot work. */
export class WrongUsage extends SandboxAgentError {}

/** The daemon did not answer, even after several tries. */
export class DaemonUnreachable extends SandboxAgentError {}

/** The daemon could not be started. */
export class DaemonNotStarted extends SandboxAgentError {}

/** Something other than a sandbox-agent daemon answered. */
export class NotADaemon extends SandboxAgentError {}

/** A turn did not succeed. */
export class TurnError extends SandboxAgentError {
  constructor(
    message: string,
    /** What happened up to here. */
    readonly transcript: Transcript,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The turn ended with the stop reason `error`, `limit` or `outcome_unknown`. */
export class TurnFailed extends TurnError {
  constructor(
    /** The agent's message, if it gave one. */
    message: string,
    /** The code of the error event, e.g. `rate_limited`; null if there is none. */
    readonly code: string | null,
    readonly stopReason: StopReason,
    transcript: Transcript,
  ) {
    super(message, transcript);
  }
}

/** The turn took longer than `timeoutMs`. */
export class TurnTimeout extends TurnError {}

/** The agent asks for something, and no one answered within `answerTimeoutMs`. The turn continues. */
export class AnswerNeeded extends TurnError {
  constructor(
    message: string,
    /** What waits for an answer. */
    readonly request: PermissionRequested | QuestionRequested | ToolRequest,
    transcript: Transcript,
  ) {
    super(message, transcript);
  }
}

/** The members of a problem (RFC 9457); every member besides the first five is a fact. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly [fact: string]: unknown;
}

/** A problem that the daemon reported. */
export class Problem extends SandboxAgentError {
  /** The type's last word, e.g. `session_not_found`. */
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly instance: string | null;
  /** Details: `sessionId`, `agent`, `field`, `exitCode`, `stderr`, ... */
  readonly facts: Readonly<Record<string, unknown>>;
  /** How long the daemon asks to wait, in seconds. */
  readonly retryAfter: number | null;

  constructor(details: ProblemDetails, retryAfter: number | null = null) {
    const { type, title, status, detail, instance, ...facts } = details;
    super(detail);
    this.type = type.startsWith(URN) ? type.slice(URN.length) : type;
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.instance = instance ?? null;
    this.facts = facts;
    this.retryAfter = retryAfter;
  }

  /** The session concerned. */
  get sessionId(): string | null {
    return text(this.facts.sessionId);
  }

  /** The agent concerned. */
  get agent(): string | null {
    return text(this.facts.agent);
  }
}

export class InvalidRequest extends Problem {
  /** The field of the request that is wrong, if it is a single one. */
  get field(): string | null {
    return text(this.facts.field);
  }
}
export class UnsupportedAgent extends Problem {}
export class ModeNotSupported extends Problem {}
export class TokenInvalid extends Problem {}
export class PermissionDenied extends Problem {}
export class AgentNotInstalled extends Problem {}
export class SessionNotFound extends Problem {}
export class NotFound extends Problem {}
export class MethodNotAllowed extends Problem {}
export class Conflict extends Problem {}
export class SessionAlreadyExists extends Problem {}
export class PreconditionFailed extends Problem {}
export class PayloadTooLarge extends Problem {}
export class UnsupportedMediaType extends Problem {}
export class RangeNotSatisfiable extends Problem {}
export class MisdirectedHost extends Problem {}
export class IdempotencyMismatch extends Problem {}
export class RateLimited extends Problem {}
export class Internal extends Problem {}
export class InstallFailed extends Problem {}
export class AgentProcessExited extends Problem {
  get exitCode(): number | null {
    return typeof this.facts.exitCode === "number" ? this.facts.exitCode : null;
  }
  get stderr(): Stderr | null {
    return (this.facts.stderr as Stderr | undefined) ?? null;
  }
}
export class StreamError extends Problem {}
export class Unavailable extends Problem {}
export class Timeout extends Problem {}
export class DesktopInvalidAction extends Problem {}
export class AppNotFound extends Problem {}
export class WindowNotFound extends Problem {}
export class DesktopRuntimeInactive extends Problem {}
export class DesktopRuntimeFailed extends Problem {}

/** The class of every problem type. */
export const PROBLEMS = {
  invalid_request: InvalidRequest,
  unsupported_agent: UnsupportedAgent,
  mode_not_supported: ModeNotSupported,
  token_invalid: TokenInvalid,
  permission_denied: PermissionDenied,
  agent_not_installed: AgentNotInstalled,
  session_not_found: SessionNotFound,
  not_found: NotFound,
  method_not_allowed: MethodNotAllowed,
  conflict: Conflict,
  session_already_exists: SessionAlreadyExists,
  precondition_failed: PreconditionFailed,
  payload_too_large: PayloadTooLarge,
  unsupported_media_type: UnsupportedMediaType,
  range_not_satisfiable: RangeNotSatisfiable,
  misdirected_host: MisdirectedHost,
  idempotency_mismatch: IdempotencyMismatch,
  rate_limited: RateLimited,
  internal: Internal,
  install_failed: InstallFailed,
  agent_process_exited: AgentProcessExited,
  stream_error: StreamError,
  unavailable: Unavailable,
  timeout: Timeout,
  desktop_invalid_action: DesktopInvalidAction,
  app_not_found: AppNotFound,
  window_not_found: WindowNotFound,
  desktop_runtime_inactive: DesktopRuntimeInactive,
  desktop_runtime_failed: DesktopRuntimeFailed,
} as const;

/** The error for a problem, as an answer or `CreatedSession.error` has it; one of an unknown type is a plain `Problem`. */
export function problemOf(details: ProblemDetails, retryAfter: number | null = null): Problem {
  const type = details.type.startsWith(URN) ? details.type.slice(URN.length) : "";
  const Kind: typeof Problem = Object.hasOwn(PROBLEMS, type) ? PROBLEMS[type as keyof typeof PROBLEMS] : Problem;
  return new Kind(details, retryAfter);
}

function text(fact: unknown): string | null {
  return typeof fact === "string" ? fact : null;
}
