/** The end of a turn: how it ended, how long it took, what it cost. */
import type { TurnEndedEntry } from "sdk/transcript";
import { count, duration, money } from "../parts/format";

const WORDS: Readonly<Record<TurnEndedEntry["stopReason"], string>> = {
  end_turn: "Done",
  interrupted: "Stopped",
  error: "Ended with an error",
  max_tokens: "Ended: out of tokens",
  refusal: "The model refused",
  limit: "Ended: a limit was reached",
  outcome_unknown: "The daemon was restarted in this turn: how it ended is not known",
};

export function TurnEnd({ entry }: { entry: TurnEndedEntry }) {
  const { usage } = entry;
  const odd = entry.stopReason !== "end_turn";
  return (
    <div className={`turnEnd ${odd ? "odd" : ""}`}>
      <span>{WORDS[entry.stopReason]}</span>
      <span>{duration(entry.durationMs)}</span>
      {usage?.input_tokens != null && (
        <span title={usageTitle(usage)}>
          {count(usage.input_tokens)} in · {count(usage.output_tokens ?? 0)} out
        </span>
      )}
      {usage?.cost_usd != null && <span>{money(usage.cost_usd)}</span>}
    </div>
  );
}

function usageTitle(usage: NonNullable<TurnEndedEntry["usage"]>): string {
  return Object.entries(usage)
    .map(([name, figure]) => `${name.replaceAll("_", " ")}: ${figure}`)
    .join("\n");
}
