/** What all turns of the daemon have spent, by day, agent, model or session. */
import { type ReactNode, useEffect, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { UsageReport, UsageSum } from "sandbox-agentd";
import { Dialog } from "../parts/dialog";
import { count, money, plural } from "chat/parts/format";
import { Notice } from "chat/parts/notice";
import { useObserved } from "chat/state/observable";
import { useSessionName } from "../sessions/useSessionName";
import { useWorkspace } from "../state/workspace";
import { UsagePlot } from "./usagePlot";
import "../styles/usage.css";

const GROUPS = ["day", "agent", "model", "session"] as const;
type Group = (typeof GROUPS)[number];

/** The daemon's days are not those of the reader. */
const HEADS: Readonly<Record<Group, string>> = { day: "Day (UTC)", agent: "Agent", model: "Model", session: "Session" };

const SPANS: readonly (readonly [string, number | null])[] = [
  ["7 days", 7],
  ["30 days", 30],
  ["All time", null],
];

export default function UsagePage({ onClose }: { onClose: () => void }) {
  const { client } = useWorkspace();
  const [by, setBy] = useState<Group>("day");
  const [days, setDays] = useState<number | null>(30);
  const [report, setReport] = useState<UsageReport | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    const from = days === null ? undefined : new Date(Date.now() - days * 86_400_000).toISOString();
    client.getUsage({ by, ...(from && { from }) }).then(
      (found) => {
        if (!current) return;
        setReport(found);
        setFailure(null);
      },
      (error: unknown) => current && setFailure(sayWhy(error)),
    );
    return () => {
      current = false;
    };
  }, [client, by, days]);
  return (
    <Dialog title="Usage" onClose={onClose} wide>
      <div className="usagePage">
        <div className="usageTools">
          <label>
            <span>By</span>
            <select value={by} onChange={(event) => setBy(event.target.value as Group)} data-first>
              {GROUPS.map((group) => (
                <option key={group}>{group}</option>
              ))}
            </select>
          </label>
          <label>
            <span>Time</span>
            <select value={String(days)} onChange={(event) => setDays(event.target.value === "null" ? null : Number(event.target.value))}>
              {SPANS.map(([words, span]) => (
                <option key={words} value={String(span)}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        </div>
        {failure && <Notice>{failure}</Notice>}
        {report?.rows.length === 0 && <p className="sa-faint">No turn has ended in this period.</p>}
        {report && report.rows.length > 0 && <UsagePlot report={report} />}
        {report && report.rows.length > 0 && <Table report={report} />}
      </div>
    </Dialog>
  );
}

function Table({ report }: { report: UsageReport }) {
  return (
    <div className="usageTableBox" tabIndex={0} role="region" aria-label={`Usage by ${report.by}`}>
      <table className="usageTable">
        <thead>
          <tr>
            <th scope="col">{HEADS[report.by as Group]}</th>
            <th scope="col">Turns</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {report.rows.map((row) => (
            <Row key={row.key ?? ""} name={<Name by={report.by} of={row.key ?? null} />} row={row} />
          ))}
        </tbody>
        <tfoot>
          <Row name="Total" row={report.total} />
        </tfoot>
      </table>
    </div>
  );
}

function Name({ by, of }: { by: string; of: string | null }) {
  const sessions = useObserved(useWorkspace().sessions);
  const session = by === "session" ? (sessions.find(({ sessionId }) => sessionId === of) ?? null) : null;
  const name = useSessionName(session);
  const words = name ?? of ?? "unknown";
  return <span title={words}>{words}</span>;
}

function Row({ name, row }: { name: ReactNode; row: UsageSum }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{count(row.turns)}</td>
      <td>{row.inputTokens == null ? "unknown" : count(row.inputTokens)}</td>
      <td>{row.outputTokens == null ? "unknown" : count(row.outputTokens)}</td>
      <td>{costOf(row)}</td>
    </tr>
  );
}

/** Marks a sum that leaves out turns. */
function costOf({ costUsd, turnsWithoutCost }: UsageSum): string {
  if (costUsd == null) return "unknown";
  return turnsWithoutCost > 0 ? `${money(costUsd)} + ${plural(turnsWithoutCost, "turn")} of unknown cost` : money(costUsd);
}
