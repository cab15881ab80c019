/** What waits for an answer: the facts of permissions and questions, and the calls of a client's tools. */
import type { PermissionRequested, PermissionResolved, QuestionRequested, QuestionResolved } from "./events.js";

/** The label of the status item that says that a client has to answer a call. */
export const TOOL_REQUEST = "tool_request";

export function permissionFacts(data: PermissionRequested | PermissionResolved) {
  const told = data.metadata;
  return {
    kind: "permission" as const,
    permissionId: data.permission_id,
    action: data.action,
    toolName: told.tool_name,
    toolKind: told.kind ?? "other",
    title: told.title || data.action,
    callId: told.call_id ?? null,
    input: told.input ?? null,
    paths: told.paths ?? [],
    diff: told.diff ?? null,
    reason: told.reason ?? null,
    state: data.status,
    decidedBy: told.decided_by ?? null,
    rule: told.rule ?? null,
    message: told.message ?? null,
  };
}

export function questionFacts(data: QuestionRequested | QuestionResolved) {
  const told = data.metadata;
  return {
    kind: "question" as const,
    questionId: data.question_id,
    prompt: data.prompt,
    options: data.options,
    questions: told.questions,
    isPlan: told.plan ?? false,
    callId: told.call_id ?? null,
    state: data.status,
    response: data.response ?? null,
    answers: told.answers ?? null,
    decidedBy: told.decided_by ?? null,
    message: told.message ?? null,
  };
}
