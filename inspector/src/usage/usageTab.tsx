/** What a session has used, turn by turn. */
import { useMemo } from "react";
import type { Entry, TurnEndedEntry, Usage } from "sandbox-agentd";
import { count, dateAndClock, duration, moment, money, share } from "chat/parts/format";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { UsageChart } from "./usageChart";
import "../styles/usage.css";

export function UsageTab({ sessionId }: { sessionId: string }) {
  const workspace = useWorkspace();
  const conversation = useMemo(() => workspace.conversation(sessionId), [workspace, sessionId]);
  const { transcript } = useObserved(conversation);
  const turns = useMemo(() => turnsOf(transcript.entries), [transcript.entries]);
  if (turns.length === 0) return <p className="debugEmpty">No turn has ended yet.</p>;
  const { usage, durationMs, waitingMs } = transcript.totals;
  return (
    <div className="scrollTab usageTab" tabIndex={0} role="region" aria-label="Usage">
      <dl className="figures">
        <Figure name="Input" value={tokens(usage.input_tokens)} />
        <Figure name="Output" value={tokens(usage.output_tokens)} />
        <Figure name="Cost" value={usage.cost_usd == null ? null : money(usage.cost_usd)} />
        <Figure name="Worked" value={duration(durationMs - waitingMs)} />
        <Figure name="Context" value={contextOf(usage)} />
      </dl>
      <UsageChart turns={turns} />
      <table className="usageTable">
        <thead>
          <tr>
            <th scope="col">Turn</th>
            <th scope="col">Ended</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cost</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {turns.map((turn, index) => (
            <tr key={turn.id}>
              <td>{index + 1}</td>
              <td title={dateAndClock(turn.time)}>{moment(turn.time)}</td>
              <td>{tokens(turn.usage?.input_tokens)}</td>
              <td>{tokens(turn.usage?.output_tokens)}</td>
              <td>{turn.usage?.cost_usd == null ? "" : money(turn.usage.cost_usd)}</td>
              <td>{duration(turn.durationMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string | null }) {
  if (!value) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function turnsOf(entries: readonly Entry[]): TurnEndedEntry[] {
  return entries.filter((entry) => entry.kind === "turn_ended");
}

function tokens(figure: number | null | undefined): string {
  return figure == null ? "" : count(figure);
}

function contextOf({ context_tokens: used, context_window: all }: Usage): string | null {
  return used == null || all == null ? null : share(used, all);
}
