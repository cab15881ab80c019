/** Requests that need an answer: permissions, questions, and calls to a client's tools. */
import type { PermissionRequested, PermissionResolved, QuestionRequested, QuestionResolved } from "./events.js";

/** The label of a status item for a call that a client must answer. */
export const TOOL_REQUEST = "tool_request";

export function permissionFacts(data: PermissionRequested | PermissionResolved) {
  const facts = data.metadata;
  return {
    kind: "permission" as const,
    permissionId: data.permission_id,
    action: data.action,
    toolName: facts.tool_name,
    toolKind: facts.kind ?? "other",
    title: facts.title || data.action,
    callId: facts.call_id ?? null,
    input: facts.input ?? null,
    paths: facts.paths ?? [],
    diff: facts.diff ?? null,
    reason: facts.reason ?? null,
    state: data.status,
    decidedBy: facts.decided_by ?? null,
    rule: facts.rule ?? null,
    message: facts.message ?? null,
  };
}

export function questionFacts(data: QuestionRequested | QuestionResolved) {
  const facts = data.metadata;
  return {
    kind: "question" as const,
    questionId: data.question_id,
    prompt: data.prompt,
    options: data.options,
    questions: facts.questions,
    isPlan: facts.plan ?? false,
    callId: facts.call_id ?? null,
    state: data.status,
    response: data.response ?? null,
    answers: facts.answers ?? null,
    decidedBy: facts.decided_by ?? null,
    message: facts.message ?? null,
  };
}
