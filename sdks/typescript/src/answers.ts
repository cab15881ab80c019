/** Handlers that answer an agent's requests, and what they may return. */
import { Conflict, NotFound, SessionNotFound, WrongUsage } from "./errors.js";
import type { PermissionRequested, QuestionRequested } from "./events.js";
import type { components } from "./openapi.js";
import type { ToolRequest } from "./tools.js";

/** A request of an agent that needs an answer. */
export type Request = PermissionRequested | QuestionRequested | ToolRequest;

export type Reply = components["schemas"]["ReplyPermissionBody"]["reply"];
/** `true` means `once` and `false` means `reject`; an object can add a message. */
export type PermissionAnswer = Reply | boolean | { reply: Reply; message?: string };
/** A string answers a single question; an array has a string or the chosen labels for each of several; null declines. */
export type QuestionAnswer = string | readonly (string | readonly string[])[] | null;

export type OnPermission = (permission: PermissionRequested) => PermissionAnswer | Promise<PermissionAnswer>;
export type OnQuestion = (question: QuestionRequested) => QuestionAnswer | Promise<QuestionAnswer>;

export interface Handlers {
  /** Decides what the agent may do: `once`, `always` (in this session) or `reject`. */
  onPermission?: OnPermission | undefined;
  /** Answers what the agent asks. */
  onQuestion?: OnQuestion | undefined;
}

export function requestId(request: Request): string {
  if ("permission_id" in request) return request.permission_id;
  return "question_id" in request ? request.question_id : request.call_id;
}

/**
 * The result of a request about something that may be settled: another client was faster, the turn has ended, or the
 * session is gone. The stream reports which.
 */
export async function unlessSettled<Result>(asked: Promise<Result>): Promise<Result | undefined> {
  return asked.catch((error: unknown) => {
    if (error instanceof Conflict || error instanceof NotFound || error instanceof SessionNotFound) return undefined;
    throw error;
  });
}

/** The most specific handlers: those of the turn, the session or the client. */
export function preferred(near: Handlers, far: Handlers): Handlers {
  return { onPermission: near.onPermission ?? far.onPermission, onQuestion: near.onQuestion ?? far.onQuestion };
}

const REPLIES: readonly string[] = ["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"];

/** The return value of a handler, or the argument of `replyPermission`, in the daemon's form. */
export function permissionBody(answer: PermissionAnswer): { reply: Reply; message?: string } {
  if (typeof answer === "boolean") return { reply: answer ? "once" : "reject" };
  const body = typeof answer === "string" ? { reply: answer } : answer;
  if (REPLIES.includes(body?.reply)) return body;
  throw new WrongUsage(
    `the answer to a permission is ${JSON.stringify(answer)}: it must be "once", "always" or "reject", true or false, ` +
      "or { reply, message }",
  );
}

/** The chosen labels of each question. */
export function labelsOf(answer: Exclude<QuestionAnswer, null>): string[][] {
  const entries = typeof answer === "string" ? [answer] : answer;
  if (Array.isArray(entries) && entries.every((entry) => [entry].flat().every((label) => typeof label === "string"))) {
    return entries.map((entry: string | readonly string[]) => [entry].flat());
  }
  throw new WrongUsage(
    `the answer to a question is ${JSON.stringify(answer)}: it must be a text, a list with a text or a list of labels ` +
      'for each question, e.g. ["Small", ["Cheese", "Basil"]], or null to refuse',
  );
}
