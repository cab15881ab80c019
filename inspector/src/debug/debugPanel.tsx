/** What lies behind the page: events, requests, agents, the connection. */
import { IconButton } from "../parts/button";
import { AgentsTab } from "./agentsTab";
import { ConnectionTab } from "./connectionTab";
import { EventsTab } from "./eventsTab";
import { HttpTab } from "./httpTab";

export type DebugTab = "events" | "http" | "agents" | "connection";

const TABS: readonly (readonly [DebugTab, string])[] = [
  ["events", "Events"],
  ["http", "HTTP"],
  ["agents", "Agents"],
  ["connection", "Connection"],
];

interface Props {
  tab: DebugTab;
  onTab: (tab: DebugTab) => void;
  sessionId: string | null;
  sequence: number | null;
  onClose: () => void;
  onLeave: () => void;
}

export function DebugPanel({ tab, onTab, sessionId, sequence, onClose, onLeave }: Props) {
  return (
    <aside className="debug" aria-label="Debug panel">
      <header>
        <div className="tabs" role="tablist" aria-label="Debug panel">
          {TABS.map(([id, name]) => (
            <button key={id} type="button" role="tab" id={`tab-${id}`} aria-selected={tab === id} aria-controls="debug-body" onClick={() => onTab(id)}>
              {name}
            </button>
          ))}
        </div>
        <IconButton icon="close" label="Close the debug panel" onClick={onClose} />
      </header>
      <div className="debugBody" id="debug-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "events" && (sessionId ? <EventsTab key={sessionId} sessionId={sessionId} sequence={sequence} /> : <p className="debugEmpty">Open a session to see its events.</p>)}
        {tab === "http" && <HttpTab />}
        {tab === "agents" && <AgentsTab />}
        {tab === "connection" && <ConnectionTab onLeave={onLeave} />}
      </div>
    </aside>
  );
}
