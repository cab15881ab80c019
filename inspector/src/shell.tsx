/** The frame of the connected page: sessions, one session, and the debug panel. */
import { useCallback, useEffect, useState } from "react";
import { DebugPanel, type DebugTab } from "./debug/debugPanel";
import { go, useRoute } from "./route";
import { SessionView } from "./session/sessionView";
import { Welcome } from "./session/welcome";
import { NewSession } from "./sessions/newSession";
import { useSearch } from "./sessions/search";
import { Sidebar } from "./sessions/sidebar";
import { useObserved } from "./state/observable";
import { useWorkspace } from "./state/workspace";
import { KeysHelp } from "./keysHelp";

export function Shell({ onLeave }: { onLeave: () => void }) {
  const workspace = useWorkspace();
  const { sessionId, sequence } = useRoute();
  const [creating, setCreating] = useState(false);
  const [helping, setHelping] = useState(false);
  const [debug, setDebug] = useState<DebugTab | null>(sequence === null ? null : "events");
  const search = useSearch(useObserved(workspace.sessions));
  const { found } = search;

  useEffect(() => {
    if (sequence !== null) setDebug("events");
  }, [sequence]);

  const step = useCallback(
    (by: number) => {
      const at = found.findIndex((session) => session.sessionId === sessionId);
      const next = found[Math.min(Math.max(at + by, 0), found.length - 1)];
      if (next) go(next.sessionId);
    },
    [found, sessionId],
  );

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open]")) return;
      const inText = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (event.key === "?" && !inText) setHelping(true);
      if ((event.ctrlKey || event.metaKey) && event.code === "KeyK") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("#session-search")?.focus();
      }
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      const act = {
        KeyN: () => setCreating(true),
        KeyD: () => setDebug((open) => (open ? null : "events")),
        ArrowUp: () => step(-1),
        ArrowDown: () => step(1),
      }[event.code];
      if (!act) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [step]);

  return (
    <div className={`shell ${sessionId ? "inSession" : "inList"} ${debug ? "debugging" : ""}`}>
      <Sidebar
        current={sessionId}
        search={search}
        onNew={() => setCreating(true)}
        onDebug={setDebug}
        onHelp={() => setHelping(true)}
        onLeave={onLeave}
      />
      {sessionId ? (
        <SessionView key={sessionId} sessionId={sessionId} debugging={debug !== null} onDebug={() => setDebug(debug ? null : "events")} />
      ) : (
        <Welcome onNew={() => setCreating(true)} />
      )}
      {debug && <DebugPanel tab={debug} onTab={setDebug} sessionId={sessionId} sequence={sequence} onClose={() => setDebug(null)} onLeave={onLeave} />}
      {creating && <NewSession onClose={() => setCreating(false)} />}
      {helping && <KeysHelp onClose={() => setHelping(false)} />}
    </div>
  );
}
