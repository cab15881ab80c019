/** One session: header, transcript and composer. */
import { useEffect, useMemo, useState } from "react";
import { Composer, type Suggestion, Transcript } from "chat/index";
import { useChat } from "chat/session/useSession";
import { Button } from "chat/parts/button";
import { Notice } from "chat/parts/notice";
import { go } from "../route";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { SessionHeader } from "./sessionHeader";
import { Suggestions } from "./suggestions";
import { useSeen } from "./useSeen";

interface Props {
  sessionId: string;
  /** Whether the panel is open. */
  panel: boolean;
  onPanel: () => void;
}

export function SessionView({ sessionId, panel, onPanel }: Props) {
  const workspace = useWorkspace();
  const conversation = useMemo(() => workspace.conversation(sessionId), [workspace, sessionId]);
  const session = useChat(conversation);
  const view = useObserved(conversation);
  const sessions = useObserved(workspace.sessions);
  const info = sessions.find((session) => session.sessionId === sessionId) ?? null;
  const gone = info === null && session.connection === "live" && !view.catchingUp;
  const isEmpty = view.transcript.totals.messages === 0 && view.count > 0 && info?.state === "idle";
  const [showAll, setShowAll] = useState(false);
  const [searching, setSearching] = useState(false);
  const [suggestion, setSuggestion] = useState<Suggestion | null>(null);
  useSeen(conversation, info);
  useSearchKey(setSearching);

  return (
    <main className="session">
      <SessionHeader
        sessionId={sessionId}
        info={info}
        transcript={view.transcript}
        panel={panel}
        onPanel={onPanel}
        searching={searching}
        onSearch={() => setSearching(!searching)}
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
          <Transcript session={session} showAll={showAll} searching={searching} onSearch={setSearching} />
          {isEmpty && info && <Suggestions info={info} onChoose={setSuggestion} />}
          <Composer session={session} suggestion={suggestion} dropZone="page" autoFocus permissionMode />
        </>
      )}
    </main>
  );
}

/** The browser's own search finds only what is rendered. Pressed again in the field, the browser's search opens. */
function useSearchKey(setSearching: (open: boolean) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.code !== "KeyF") return;
      if (document.querySelector("dialog[open]") || document.activeElement?.closest(".sa-search-bar")) return;
      event.preventDefault();
      setSearching(true);
      document.querySelector<HTMLInputElement>(".sa-search-bar input")?.select();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [setSearching]);
}
