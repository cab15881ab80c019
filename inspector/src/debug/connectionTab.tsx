/** The connection: its endpoint, how long it has been up, and what happens when it breaks. */
import { Button } from "chat/parts/button";
import { useNow } from "chat/parts/clock";
import { clock, duration } from "chat/parts/format";
import { chooseTheme, theme, type Theme } from "../parts/theme";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { Fact } from "./agentsTab";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["auto", "System"],
  ["dark", "Dark"],
  ["light", "Light"],
];

export function ConnectionTab({ onLeave }: { onLeave: () => void }) {
  const workspace = useWorkspace();
  const link = useObserved(workspace.connection);
  const now = useNow();
  const chosen = useObserved(theme);
  const { endpoint, token } = workspace.daemon.address;
  return (
    <div className="scrollTab">
      <dl className="facts">
        <Fact name="State" value={link.state} />
        <Fact name="Since" value={`${clock(link.since)} (${duration(Math.max(0, now - link.since))})`} />
        {link.why && <Fact name="Why" value={link.why} />}
        {link.retryAt && <Fact name="Retries" value={`in ${duration(Math.max(0, link.retryAt - now))}`} />}
        <Fact name="Endpoint" value={endpoint} />
        <Fact name="Token" value={token ? "yes, kept in this tab" : "none"} />
        <Fact name="Daemon" value={workspace.version} />
        <Fact name="Connected" value={link.opened === 1 ? "once" : `${link.opened} times`} />
      </dl>
      <div className="sa-card-actions">
        {link.state === "offline" && <Button onClick={workspace.connection.retryNow}>Try now</Button>}
        <Button look="danger" onClick={onLeave}>
          Disconnect
        </Button>
      </div>
      <fieldset className="themes">
        <legend>Colours</legend>
        {THEMES.map(([value, words]) => (
          <label key={value}>
            <input type="radio" name="theme" checked={chosen === value} onChange={() => chooseTheme(value)} /> {words}
          </label>
        ))}
      </fieldset>
    </div>
  );
}
