/** All sessions of the daemon: search, create, and see which one needs you. */
import { useRef } from "react";
import type { PanelTab } from "../panel/sidePanel";
import { Button, IconButton } from "chat/parts/button";
import { Icon } from "chat/parts/icon";
import { Menu } from "../parts/menu";
import { chooseTheme, isLight, theme } from "../parts/theme";
import { useObserved } from "chat/state/observable";
import { rankOf } from "../state/sessionList";
import { useWorkspace } from "../state/workspace";
import { LinkBadge } from "./linkBadge";
import { NotificationOffer } from "./notificationOffer";
import type { Search } from "./search";
import { SessionRow } from "./sessionRow";

const GROUPS = ["Needs you", "Running", "Recent"] as const;

interface Props {
  current: string | null;
  search: Search;
  onSkip: () => void;
  onNew: () => void;
  onPanel: (tab: PanelTab) => void;
  onUsage: () => void;
  onHelp: () => void;
  onLeave: () => void;
}

export function Sidebar({ current, search, onSkip, onNew, onPanel, onUsage, onHelp, onLeave }: Props) {
  const workspace = useWorkspace();
  const sessions = useObserved(workspace.sessions);
  const seen = useObserved(workspace.seen);
  const { words, found, setWords } = search;
  const groups = GROUPS.map((name, rank) => ({ name, sessions: found.filter((session) => rankOf(session) === rank) })).filter(
    ({ sessions }) => sessions.length > 0,
  );
  const field = useRef<HTMLInputElement>(null);
  const clear = () => {
    setWords("");
    field.current?.focus();
  };
  const light = isLight(useObserved(theme));
  return (
    <nav className="sidebar" aria-label="Sessions">
      <button type="button" className="skipLink" onClick={onSkip}>
        Skip to the conversation
      </button>
      <header className="sidebarHead">
        <h1>
          <Icon name="terminal" size={18} /> Inspector
        </h1>
        <LinkBadge onClick={() => onPanel("connection")} />
        <Menu
          label="Menu"
          items={[
            { label: light ? "Dark" : "Light", icon: light ? "moon" : "sun", onChoose: () => chooseTheme(light ? "dark" : "light") },
            { label: "Agents", icon: "robot", onChoose: () => onPanel("agents") },
            { label: "Usage", icon: "clock", onChoose: onUsage },
            { label: "Connection", icon: "plug", onChoose: () => onPanel("connection") },
            { label: "Keys", icon: "list", onChoose: onHelp },
            { label: "Disconnect", icon: "close", onChoose: onLeave },
          ]}
        />
      </header>
      <div className="sidebarTools">
        <Button icon="plus" onClick={onNew} className="sa-grow" keys="Alt N">
          New session
        </Button>
      </div>
      <div className="searchBox">
        <Icon name="search" size={14} />
        <input
          ref={field}
          id="session-search"
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        {words && <IconButton icon="close" size={12} label="Clear the search" onClick={clear} />}
      </div>
      <NotificationOffer />
      <div className="sessionList">
        {groups.map(({ name, sessions }) => (
          <section key={name} aria-label={name}>
            <h2 className={`groupName ${name === "Needs you" ? "needsYou" : ""}`}>
              {name} <span>{sessions.length}</span>
            </h2>
            <ul>
              {sessions.map((session) => (
                <SessionRow
                  key={session.sessionId}
                  session={session}
                  current={session.sessionId === current}
                  unread={session.sessionId !== current && session.eventCount > (seen.get(session.sessionId) ?? 0)}
                />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {found.length === 0 && workspace.sessions.isKnown && (
        <p className="sidebarEmpty">{sessions.length === 0 ? "No sessions yet." : "No matching sessions."}</p>
      )}
    </nav>
  );
}
