/** The last card of an ended session: why it ended, and the agent's stderr. */
import type { SessionEndedEntry } from "sandbox-agentd";
import { Icon } from "../parts/icon.js";
import { StderrView } from "./stderrView.js";

const WORDS: Readonly<Record<SessionEndedEntry["reason"], string>> = {
  completed: "The agent ended the conversation",
  error: "The session ended with an error",
  terminated: "The session was terminated",
};

export function SessionEnd({ entry }: { entry: SessionEndedEntry }) {
  const bad = entry.reason === "error";
  return (
    <section className={`sa-card ${bad ? "sa-bad" : "sa-plain-end"}`} aria-label="End of the session">
      <header>
        <Icon name={bad ? "alert" : "stop"} />
        <strong>{WORDS[entry.reason]}</strong>
        {entry.exitCode !== null && <span className="sa-tag sa-bad">exit code {entry.exitCode}</span>}
      </header>
      {entry.message && <p className="sa-card-text">{entry.message}</p>}
      {entry.stderr && <StderrView stderr={entry.stderr} />}
    </section>
  );
}
