/** The first line of a transcript: what was started. */
import type { SessionStartedEntry } from "sandbox-agentd";
import { clock } from "../parts/format.js";

export function SessionStart({ entry }: { entry: SessionStartedEntry }) {
  const told = entry.metadata;
  const facts = [told?.agent, told?.agentVersion, told?.model, told?.variant, told?.agentMode, told?.directory];
  return (
    <div className="sessionStart">
      <span>Started {clock(entry.time)}</span>
      <span>{facts.filter(Boolean).join(" · ")}</span>
    </div>
  );
}
