/** One session in the list. */
import { memo, useEffect, useRef } from "react";
import type { SessionInfo } from "sandbox-agentd";
import { AgentMark } from "../parts/agentMark";
import { useNow } from "chat/parts/clock";
import { ago, lastPart } from "chat/parts/format";
import { StateBadge } from "../parts/stateBadge";
import { fragment } from "../route";
import { useSessionName } from "./useSessionName";

interface Props {
  session: SessionInfo;
  current: boolean;
  unread: boolean;
}

export const SessionRow = memo(function SessionRow({ session, current, unread }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  const name = useSessionName(session, link);
  useEffect(() => {
    if (current) link.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <li>
      <a ref={link} href={fragment(session.sessionId)} className="sessionRow" aria-current={current ? "page" : undefined}>
        <AgentMark agent={session.agent} />
        <span className="sessionRowText">
          <span className="sessionRowLine">
            <span className="sessionRowTitle" dir="auto" title={name ?? undefined}>{name}</span>
            {unread && <span className="unreadDot" role="img" aria-label="Unread" />}
            <Age time={session.updatedAt} />
          </span>
          <span className="sessionRowLine">
            <span className="sessionRowFacts">
              {session.agent} · {lastPart(session.directory)}
            </span>
            {session.state === "ended" && <StateBadge state={session.state} />}
          </span>
        </span>
      </a>
    </li>
  );
});

function Age({ time }: { time: string }) {
  return <time dateTime={time}>{ago(time, useNow())}</time>;
}
