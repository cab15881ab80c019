/** All sessions of the daemon: find one, make one, see which needs you. */
import type { SessionState } from "../daemon/types";
import type { DebugTab } from "../debug/debugPanel";
import { Button, IconButton } from "../parts/button";
import { Icon } from "../parts/icon";
import { Menu } from "../parts/menu";
import { chooseTheme, isLight, theme } from "../parts/theme";
import { useObserved } from "../state/observable";
import { useWorkspace } from "../state/workspace";
import { LinkBadge } from "./linkBadge";
import type { Search } from "./search";
import { SessionRow } from "./sessionRow";

const FILTERS: readonly (readonly [string, SessionState | null])[] = [
  ["All", null],
  ["Needs you", "requires_action"],
  ["Running", "running"],
  ["Ended", "ended"],
];

interface Props {
  current: string | null;
  search: Search;
  onNew: () => void;
  onDebug: (tab: DebugTab) => void;
  onHelp: () => void;
  onLeave: () => void;
}

export function Sidebar({ current, search, onNew, onDebug, onHelp, onLeave }: Props) {
  const workspace = useWorkspace();
  const sessions = useObserved(workspace.sessions);
  const { words, state, found, setWords, setState } = search;
  const light = isLight(useObserved(theme));
  return (
    <nav className="sidebar" aria-label="Sessions">
      <header className="sidebarHead">
        <h1>
          <Icon name="terminal" size={18} /> Inspector
        </h1>
        <LinkBadge onClick={() => onDebug("connection")} />
        <Menu
          label="Menu"
          items={[
            { label: light ? "Dark" : "Light", icon: light ? "moon" : "sun", onChoose: () => chooseTheme(light ? "dark" : "light") },
            { label: "Agents", icon: "robot", onChoose: () => onDebug("agents") },
            { label: "Connection", icon: "plug", onChoose: () => onDebug("connection") },
            { label: "Keys", icon: "list", onChoose: onHelp },
            { label: "Disconnect", icon: "close", onChoose: onLeave },
          ]}
        />
      </header>
      <div className="sidebarTools">
        <Button look="primary" icon="plus" onClick={onNew} className="grow">
          New session
        </Button>
      </div>
      <div className="searchBox">
        <Icon name="search" size={14} />
        <input
          id="session-search"
          type="search"
          placeholder="Search"
          aria-label="Search sessions"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        {words && <IconButton icon="close" size={12} label="Clear the search" onClick={() => setWords("")} />}
      </div>
      <div className="filters" role="group" aria-label="Filter by state">
        {FILTERS.map(([label, value]) => {
          const many = value ? sessions.filter((session) => session.state === value).length : sessions.length;
          return (
            <button key={label} type="button" className="chip" aria-pressed={state === value} onClick={() => setState(value)}>
              {label} {many > 0 && <span className="chipCount">{many}</span>}
            </button>
          );
        })}
      </div>
      <ul className="sessionList">
        {found.map((session) => (
          <SessionRow key={session.sessionId} session={session} current={session.sessionId === current} />
        ))}
      </ul>
      {found.length === 0 && (
        <p className="sidebarEmpty">{sessions.length === 0 ? "No sessions yet." : "No session is like that."}</p>
      )}
    </nav>
  );
}
