/** The layout of the connected page: session list, session and panel. What is not visible at first is loaded on demand. */
import { useCallback, useEffect, useState } from "react";
import type { PanelTab } from "./panel/sidePanel";
import { dialogOnDemand } from "./parts/onDemand";
import { go, useRoute } from "./route";
import { SessionView } from "./session/sessionView";
import { Welcome } from "./session/welcome";
import { useSearch } from "./sessions/search";
import { Sidebar } from "./sessions/sidebar";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "./state/workspace";
import { useTitle } from "./useTitle";

const KeysHelp = dialogOnDemand(() => import("./keysHelp"));
const NewSession = dialogOnDemand(() => import("./sessions/newSession"));
const UsagePage = dialogOnDemand(() => import("./usage/usagePage"));
const SidePanel = dialogOnDemand(() => import("./panel/sidePanel"));

export function Shell({ onLeave }: { onLeave: () => void }) {
  const workspace = useWorkspace();
  const { sessionId, sequence } = useRoute();
  const [creating, setCreating] = useState(false);
  const [helping, setHelping] = useState(false);
  const [summing, setSumming] = useState(false);
  const [panel, setPanel] = useState<PanelTab | null>(sequence === null ? null : "events");
  const sessions = useObserved(workspace.sessions);
  const search = useSearch(sessions);
  useTitle(sessions, sessionId);
  const { found } = search;

  useEffect(() => {
    if (sequence !== null) setPanel("events");
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
        KeyD: () => setPanel((open) => (open ? null : "events")),
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
    <div className={`shell ${sessionId ? "inSession" : "inList"} ${panel ? "withPanel" : ""}`}>
      <Sidebar
        onSkip={skip}
        current={sessionId}
        search={search}
        onNew={() => setCreating(true)}
        onPanel={setPanel}
        onUsage={() => setSumming(true)}
        onHelp={() => setHelping(true)}
        onLeave={onLeave}
      />
      {sessionId ? (
        <SessionView key={sessionId} sessionId={sessionId} panel={panel !== null} onPanel={() => setPanel(panel ? null : "events")} />
      ) : (
        <Welcome onNew={() => setCreating(true)} />
      )}
      {panel && <SidePanel tab={panel} onTab={setPanel} sessionId={sessionId} sequence={sequence} onClose={() => setPanel(null)} onLeave={onLeave} />}
      {creating && <NewSession onClose={() => setCreating(false)} />}
      {summing && <UsagePage onClose={() => setSumming(false)} />}
      {helping && <KeysHelp onClose={() => setHelping(false)} />}
    </div>
  );
}

/** Skips the session list and goes to the composer, or else to the transcript. */
function skip(): void {
  (document.querySelector<HTMLElement>(".sa-composer textarea") ?? document.querySelector<HTMLElement>(".sa-transcript, main button"))?.focus();
}
