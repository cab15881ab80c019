/** One session: its head, its transcript, and where one writes. */
import { useEffect, useMemo, useState } from "react";
import { Composer } from "../composer/composer";
import { Button } from "../parts/button";
import { Notice } from "../parts/notice";
import { go } from "../route";
import { useObserved } from "../state/observable";
import { useWorkspace } from "../state/workspace";
import { TranscriptView } from "../transcript/transcriptView";
import { SessionContext } from "./sessionContext";
import { SessionHeader } from "./sessionHeader";

interface Props {
  sessionId: string;
  debugging: boolean;
  onDebug: () => void;
}

export function SessionView({ sessionId, debugging, onDebug }: Props) {
  const workspace = useWorkspace();
  const conversation = useMemo(() => workspace.conversation(sessionId), [workspace, sessionId]);
  const view = useObserved(conversation);
  const sessions = useObserved(workspace.sessions);
  const link = useObserved(workspace.live);
  const info = sessions.find((session) => session.sessionId === sessionId) ?? null;
  const gone = info === null && link.state === "live" && !view.catchingUp;
  const [showAll, setShowAll] = useState(false);

  useEffect(() => {
    const name = info?.title || sessionId;
    document.title = info?.state === "requires_action" ? `● ${name}` : name;
    return () => {
      document.title = "Inspector";
    };
  }, [info?.title, info?.state, sessionId]);

  return (
    <SessionContext.Provider value={conversation}>
      <main className="session">
        <SessionHeader
          sessionId={sessionId}
          info={info}
          transcript={view.transcript}
          debugging={debugging}
          onDebug={onDebug}
          showAll={showAll}
          onShowAll={() => setShowAll(!showAll)}
        />
        {gone ? (
          <div className="sessionGone">
            <Notice tone="warn">
              There is no session “{sessionId}”. It may have been deleted.
            </Notice>
            <Button onClick={() => go(null)}>Back to the list</Button>
          </div>
        ) : (
          <>
            <TranscriptView view={view} showAll={showAll} />
            <Composer sessionId={sessionId} info={info} transcript={view.transcript} />
          </>
        )}
      </main>
    </SessionContext.Provider>
  );
}
