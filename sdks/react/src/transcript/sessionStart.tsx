/** The first line of a transcript: what was started. */
import type { SessionStartedEntry } from "sandbox-agentd";
import { moment } from "../parts/format.js";

export function SessionStart({ entry }: { entry: SessionStartedEntry }) {
  const metadata = entry.metadata;
  const facts = [metadata?.agent, metadata?.agentVersion, metadata?.model, metadata?.variant, metadata?.agentMode, metadata?.directory];
  return (
    <div className="sa-session-start">
      <span>Started {moment(entry.time)}</span>
      <span>{facts.filter(Boolean).join(" · ")}</span>
    </div>
  );
}
