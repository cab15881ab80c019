/**
 * The panel at the right: one tab at a time. A new tab is a line in `TABS`; its body is loaded when it is first looked
 * at, together with all others.
 */
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { AgentsTab } from "../debug/agentsTab";
import { ConnectionTab } from "../debug/connectionTab";
import { EventsTab } from "../debug/eventsTab";
import { HttpTab } from "../debug/httpTab";
import { IconButton } from "../parts/button";
import { UsageTab } from "../usage/usageTab";

export type PanelTab = "events" | "usage" | "http" | "agents" | "connection";

/** What a tab may need to know. */
interface Place {
  sessionId: string | null;
  /** The event that a link points to. */
  sequence: number | null;
  onLeave: () => void;
}

interface Tab {
  readonly id: PanelTab;
  readonly name: string;
  readonly draw: (place: Place) => ReactNode;
}

const TABS: readonly Tab[] = [
  {
    id: "events",
    name: "Events",
    draw: ({ sessionId, sequence }) => (sessionId ? <EventsTab key={sessionId} sessionId={sessionId} sequence={sequence} /> : <NoSession of="events" />),
  },
  { id: "usage", name: "Usage", draw: ({ sessionId }) => (sessionId ? <UsageTab key={sessionId} sessionId={sessionId} /> : <NoSession of="usage" />) },
  { id: "http", name: "HTTP", draw: () => <HttpTab /> },
  { id: "agents", name: "Agents", draw: () => <AgentsTab /> },
  { id: "connection", name: "Connection", draw: ({ onLeave }) => <ConnectionTab onLeave={onLeave} /> },
];

interface Props extends Place {
  tab: PanelTab;
  onTab: (tab: PanelTab) => void;
  onClose: () => void;
}

export default function SidePanel({ tab, onTab, onClose, ...place }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const shown = TABS.find(({ id }) => id === tab) ?? (TABS[0] as Tab);
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!by) return;
    const next = TABS[(TABS.indexOf(shown) + by + TABS.length) % TABS.length] as Tab;
    onTab(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <aside className="panel" aria-label="Panel">
      <header>
        <div ref={list} className="tabs" role="tablist" aria-label="Panel" onKeyDown={onKeyDown}>
          {TABS.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`tab-${id}`}
              aria-selected={id === shown.id}
              aria-controls="panel-body"
              tabIndex={id === shown.id ? 0 : -1}
              onClick={() => onTab(id)}
            >
              {name}
            </button>
          ))}
        </div>
        <IconButton icon="close" label="Close the panel" onClick={onClose} />
      </header>
      <div className="panelBody" id="panel-body" role="tabpanel" aria-labelledby={`tab-${shown.id}`}>
        {shown.draw(place)}
      </div>
    </aside>
  );
}

function NoSession({ of }: { of: string }) {
  return <p className="debugEmpty">Open a session to see its {of}.</p>;
}
