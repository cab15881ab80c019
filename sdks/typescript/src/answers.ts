/** What an agent waits for: the handlers that answer it, and what those may return. */
import { WrongUsage } from "./errors.js";
import type { PermissionRequested, QuestionRequested } from "./events.js";
import type { components } from "./openapi.js";
import type { ToolRequest } from "./tools.js";

/** What an agent waits for. */
export type Request = PermissionRequested | QuestionRequested | ToolRequest;

export type Reply = components["schemas"]["ReplyPermissionBody"]["reply"];
/** True is `once` and false is `reject`; an object can say why. */
export type PermissionAnswer = Reply | boolean | { reply: Reply; message?: string };
/** A text to a single question; a text or the chosen labels to each of several; null refuses to answer. */
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

/** The handlers of the nearest place that has some. */
export function preferred(near: Handlers, far: Handlers): Handlers {
  return { onPermission: near.onPermission ?? far.onPermission, onQuestion: near.onQuestion ?? far.onQuestion };
}

const REPLIES: readonly string[] = ["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"];

/** What a handler, or the caller of `replyPermission`, said, as the daemon wants it. */
export function permissionBody(answer: PermissionAnswer): { reply: Reply; message?: string } {
  if (typeof answer === "boolean") return { reply: answer ? "once" : "reject" };
  const body = typeof answer === "string" ? { reply: answer } : answer;
  if (REPLIES.includes(body?.reply)) return body;
  throw new WrongUsage(
    `the answer to a permission is ${JSON.stringify(answer)}: it must be "once", "always" or "reject", true or false, ` +
      "or { reply, message }",
  );
}

/** The labels that were chosen, question by question. */
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
