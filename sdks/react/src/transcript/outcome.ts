/** How a request ended, as text. */
import type { PermissionEntry, StatusEntry } from "sandbox-agentd";
import { asRecord } from "./record.js";

const OUTCOMES = { requested: "", accept: "Allowed once", accept_for_session: "Allowed for this session", reject: "Rejected" } as const;
const BY = { client: "", rule: "by an earlier “always”", agent: "by the agent", daemon: "by the daemon" } as const;

export function outcomeOf({ state, decidedBy, rule }: PermissionEntry): string {
  if (rule) return [state === "reject" ? "Denied by rule" : "Allowed by rule", rule.reason].filter(Boolean).join(": ");
  return [OUTCOMES[state], decidedBy && BY[decidedBy]].filter(Boolean).join(" ");
}

/** The message that came with it. The reason of a rule is already in the outcome. */
export function messageOf({ message, rule }: PermissionEntry): string | null {
  return rule ? null : message;
}

/** How a call to a client's tool ended. */
export function answerOf({ status, data }: StatusEntry): { readonly words: string; readonly error: string | null } {
  const error = asRecord(data)?.error;
  return { words: status === "failed" ? "Not answered" : "Answered by a client", error: typeof error === "string" ? error : null };
}
