/** Pending requests, outside the transcript: permissions, questions, plans, and calls to a client's tools. */
import { useEffect, useMemo } from "react";
import type { Entry } from "sandbox-agentd";
import { SessionContext } from "../session/sessionContext.js";
import type { ChatSession } from "../session/useSession.js";
import { EntryView } from "../transcript/entryView.js";
import { asks, type Row, Rows } from "../transcript/rows.js";

export interface ApprovalsProps {
  session: ChatSession;
  className?: string;
}

/** The open requests of a session. While this is mounted, the session's transcript does not show them. */
export function Approvals({ session, className = "" }: ApprovalsProps) {
  const { conversation, transcript } = session;
  useEffect(() => conversation.askElsewhere(), [conversation]);
  const open = useMemo(() => openRows(transcript.entries), [transcript.entries]);
  if (open.length === 0) return null;
  return (
    <SessionContext.Provider value={conversation}>
      <div className={`sandbox-agent sa-approvals ${className}`} role="region" aria-label="Waiting for you">
        {open.map((row) => (
          <EntryView key={row.key} row={row} unfolded={false} onFold={() => undefined} />
        ))}
      </div>
    </SessionContext.Provider>
  );
}

/** Sub-agents ask too. */
function openRows(entries: readonly Entry[]): Row[] {
  const all = new Set<string>();
  const visit = (level: readonly Entry[]) => {
    for (const entry of level) {
      if (entry.kind !== "tool") continue;
      all.add(entry.id);
      visit(entry.children);
    }
  };
  visit(entries);
  return new Rows().of(entries, { unfolded: all, showAll: false }).filter(({ entry }) => asks(entry));
}
