/** Installs an agent and says how far it is. */
import { useState } from "react";
import { sayWhy } from "../daemon/problem";
import { Button } from "../parts/button";
import { useWorkspace } from "../state/workspace";

export function InstallButton({ agent }: { agent: string }) {
  const workspace = useWorkspace();
  const [said, setSaid] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const install = async () => {
    setBusy(true);
    setSaid(null);
    try {
      await workspace.daemon.post(`/v1/agents/${encodeURIComponent(agent)}/install`, {});
      await workspace.agents.reload();
    } catch (error) {
      setSaid(sayWhy(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="install">
      <Button small onClick={install} disabled={busy} icon="download">
        {busy ? "Installing…" : "Install"}
      </Button>
      {said && <small className="badText" role="alert">{said}</small>}
    </div>
  );
}
