/**
 * The panel on the right, one tab at a time. A new tab is a line in `TABS`. The tabs about the session and the page are
 * loaded together when the panel is first opened; setup and the tabs about the machine are loaded when first shown.
 */
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { AgentsTab } from "../debug/agentsTab";
import { ConnectionTab } from "../debug/connectionTab";
import { EventsTab } from "../debug/eventsTab";
import { HttpTab } from "../debug/httpTab";
import { IconButton } from "chat/parts/button";
import { useFocusReturn } from "chat/parts/focus";
import { useObserved, Value } from "chat/state/observable";
import { onDemand } from "../parts/onDemand";
import { UsageTab } from "../usage/usageTab";
import "../styles/panel.css";
import "../styles/debug.css";
import "../styles/machine.css";
import "../styles/setup.css";

const ChangesTab = onDemand(() => import("../changes/changesTab"));
const FilesTab = onDemand(() => import("../files/filesTab"));
const SetupTab = onDemand(() => import("../setup/setupTab"));
const TerminalTab = onDemand(() => import("../terminal/terminalTab"));
const ProcessesTab = onDemand(() => import("../processes/processesTab"));
const DesktopTab = onDemand(() => import("../desktop/desktopTab"));

export type PanelTab = "changes" | "files" | "terminal" | "processes" | "desktop" | "setup" | "events" | "usage" | "http" | "agents" | "connection";

/** What a tab may need. */
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
    id: "changes",
    name: "Changes",
    draw: ({ sessionId }) => (sessionId ? <ChangesTab key={sessionId} sessionId={sessionId} /> : <NoSession of="changes" />),
  },
  { id: "files", name: "Files", draw: ({ sessionId }) => <FilesTab key={sessionId} sessionId={sessionId} /> },
  { id: "terminal", name: "Terminal", draw: ({ sessionId }) => <TerminalTab sessionId={sessionId} /> },
  { id: "processes", name: "Processes", draw: ({ sessionId }) => <ProcessesTab sessionId={sessionId} /> },
  { id: "desktop", name: "Desktop", draw: () => <DesktopTab /> },
  { id: "setup", name: "Setup", draw: ({ sessionId }) => (sessionId ? <SetupTab key={sessionId} sessionId={sessionId} /> : <NoSession of="setup" />) },
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

const WIDE_KEY = "sandbox-agent.panel";
const wide = new Value(localStorage.getItem(WIDE_KEY) === "wide");

function toggleWide(): void {
  wide.set(!wide.snapshot);
  localStorage.setItem(WIDE_KEY, wide.snapshot ? "wide" : "narrow");
}

interface Props extends Place {
  tab: PanelTab;
  onTab: (tab: PanelTab) => void;
  onClose: () => void;
}

export default function SidePanel({ tab, onTab, onClose, ...place }: Props) {
  const panel = useRef<HTMLElement>(null);
  useFocusReturn(panel);
  const list = useRef<HTMLDivElement>(null);
  const isWide = useObserved(wide);
  const shown = TABS.find(({ id }) => id === tab) ?? (TABS[0] as Tab);
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!by) return;
    const next = TABS[(TABS.indexOf(shown) + by + TABS.length) % TABS.length] as Tab;
    onTab(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <aside ref={panel} className={isWide ? "panel wide" : "panel"} aria-label="Panel">
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
        <IconButton icon="wide" label="Wide panel" aria-pressed={isWide} className="wideOnly" onClick={toggleWide} />
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
