/** Shown while no session is open. */
import { Button } from "chat/parts/button";
import { Icon } from "chat/parts/icon";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";

export function Welcome({ onNew }: { onNew: () => void }) {
  const workspace = useWorkspace();
  const many = useObserved(workspace.sessions).length;
  const isFirst = workspace.sessions.isKnown && many === 0;
  const { agents } = useObserved(workspace.agents);
  const ready = agents.filter((agent) => agent.installed).map((agent) => agent.id);
  return (
    <main className="welcome">
      <div>
        <span className="welcomeIcon">
          <Icon name="terminal" size={28} />
        </span>
        <h2>{isFirst ? "Start your first session" : "Choose a session"}</h2>
        <p>
          {isFirst
            ? "Pick an agent, give it a directory, and watch what it does. The mock agent needs no key: send it “demo”."
            : "Sessions of every client of this daemon appear here, live."}
        </p>
        <Button look="primary" icon="plus" onClick={onNew} keys="Alt N">
          New session
        </Button>
        {ready.length > 0 && <p className="sa-faint">Installed: {ready.join(", ")}</p>}
      </div>
    </main>
  );
}
