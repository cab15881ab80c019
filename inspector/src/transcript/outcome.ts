/** How a permission ended, in words. */
import type { PermissionEntry } from "sdk/transcript";

const OUTCOMES = { requested: "", accept: "Allowed once", accept_for_session: "Allowed for this session", reject: "Rejected" } as const;
const BY = { client: "", rule: "by a rule of this session", agent: "by the agent", daemon: "by the daemon" } as const;

export function outcomeOf({ state, decidedBy }: PermissionEntry): string {
  return [OUTCOMES[state], decidedBy && BY[decidedBy]].filter(Boolean).join(" ");
}
