/** The end of a turn: how it ended, how long it took, what it cost. */
import type { TurnEndedEntry } from "sandbox-agentd";
import { count, duration, money, share } from "../parts/format.js";

const WORDS: Readonly<Record<TurnEndedEntry["stopReason"], string>> = {
  end_turn: "Done",
  interrupted: "Stopped",
  error: "Ended with an error",
  max_tokens: "Ended: out of tokens",
  refusal: "The model refused",
  limit: "Ended: a limit was reached",
  outcome_unknown: "The daemon restarted during this turn: its outcome is unknown",
};

export function TurnEnd({ entry }: { entry: TurnEndedEntry }) {
  const { usage } = entry;
  const odd = entry.stopReason !== "end_turn";
  return (
    <div className={`sa-turn-end ${odd ? "sa-odd" : ""}`}>
      {odd ? <span className="sa-turn-end-words">{WORDS[entry.stopReason]}</span> : <span className="sa-offscreen">{WORDS[entry.stopReason]}</span>}
      {entry.durationMs >= 100 && <span>{duration(entry.durationMs)}</span>}
      {entry.waitingMs >= 1000 && <span title="A permission or a question waited for an answer">{duration(entry.waitingMs)} waiting</span>}
      {usage?.input_tokens != null && (
        <span title={usageTitle(usage)}>
          {count(usage.input_tokens)} in · {count(usage.output_tokens ?? 0)} out
        </span>
      )}
      {usage?.cost_usd != null && <span>{money(usage.cost_usd)}</span>}
      {usage?.context_tokens != null && usage.context_window != null && (
        <span title={`${usage.context_tokens} of ${usage.context_window} tokens`}>
          context {share(usage.context_tokens, usage.context_window)}
        </span>
      )}
    </div>
  );
}

function usageTitle(usage: NonNullable<TurnEndedEntry["usage"]>): string {
  return Object.entries(usage)
    .map(([name, figure]) => `${name.replaceAll("_", " ")}: ${figure}`)
    .join("\n");
}
