/** Renders one entry of the transcript by its kind. */
import { memo } from "react";
import type { ToolEntry } from "sandbox-agentd";
import { ErrorCard, OddCard } from "./errorCard.js";
import { Message } from "./message.js";
import { PermissionCard } from "../approvals/permissionCard.js";
import { PlanCard } from "../approvals/planCard.js";
import { QuestionCard } from "../approvals/questionCard.js";
import { isToolRequest, type Row } from "./rows.js";
import { SessionEnd } from "./sessionEnd.js";
import { SessionStart } from "./sessionStart.js";
import { StatusLine } from "./statusLine.js";
import { Thinking } from "./thinking.js";
import { Tool, ToolResult } from "./tool.js";
import { ToolRequestCard } from "../approvals/toolRequestCard.js";
import { TurnEnd } from "./turnEnd.js";

interface Props {
  row: Omit<Row, "key" | "depth" | "isTight">;
  unfolded: boolean;
  onFold: (id: string) => void;
}

export const EntryView = memo(function EntryView({ row, unfolded, onFold }: Props) {
  const { entry } = row;
  const fold = { unfolded, onFold: () => onFold(entry.id) };
  switch (entry.kind) {
    case "message":
      return <Message entry={entry} piece={row.piece} isFirst={row.isFirst} isLast={row.isLast} />;
    case "reasoning":
      return <Thinking entry={entry} {...fold} />;
    case "tool":
      if (row.isResult) return <SubAgentResult entry={entry} />;
      return <Tool entry={entry} decision={row.decision} answer={row.answer} {...fold} />;
    case "permission":
      return <PermissionCard entry={entry} />;
    case "question":
      return entry.isPlan ? <PlanCard entry={entry} /> : <QuestionCard entry={entry} />;
    case "status":
      return isToolRequest(entry) ? <ToolRequestCard entry={entry} /> : <StatusLine entry={entry} {...fold} />;
    case "error":
      return <ErrorCard entry={entry} />;
    case "turn_ended":
      return <TurnEnd entry={entry} />;
    case "session_started":
      return <SessionStart entry={entry} />;
    case "session_ended":
      return <SessionEnd entry={entry} />;
    case "unparsed":
      return <OddCard title="The daemon could not parse the agent's output" text={`${entry.location}: ${entry.error}`} />;
    case "unknown":
      return <OddCard title="The agent sent an item of an unknown kind" data={entry.data} />;
    case "other":
      return <OddCard title={`Unknown event type: ${entry.type}`} data={entry.data} />;
    case "turn_started":
      return null;
  }
}, isSame);

/** Rows are recreated on every render, but their contents stay the same objects until they change. */
function isSame(before: Props, after: Props): boolean {
  const [old, next] = [before.row, after.row];
  // While a long message is streamed, only its last piece changes.
  if (old.piece && old.piece === next.piece && !old.isLast && !next.isLast) return true;
  return (
    before.unfolded === after.unfolded &&
    before.onFold === after.onFold &&
    old.entry === next.entry &&
    old.piece === next.piece &&
    old.isLast === next.isLast &&
    old.decision === next.decision &&
    old.answer === next.answer
  );
}

function SubAgentResult({ entry }: { entry: ToolEntry }) {
  return (
    <section className="sa-sub-agent-result" aria-label={`Result of ${entry.name}`}>
      <ToolResult entry={entry} />
    </section>
  );
}
