/** A session's state, as a colour and a label. */
import type { SessionState } from "../daemon/types";

export const STATE_WORDS: Readonly<Record<SessionState, string>> = {
  idle: "Idle",
  running: "Running",
  requires_action: "Needs you",
  ended: "Ended",
};

export function StateBadge({ state }: { state: SessionState }) {
  return <span className={`stateBadge ${state}`}>{STATE_WORDS[state]}</span>;
}
