/** Installs an agent and shows the progress. */
import { useState } from "react";
import { sayWhy } from "chat/state/words";
import { Button } from "chat/parts/button";
import { useWorkspace } from "../state/workspace";
import { install, type Progress } from "./install";

export function InstallButton({ agent }: { agent: string }) {
  const workspace = useWorkspace();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const start = async () => {
    setProgress({ words: "Installing…", part: null });
    setFailure(null);
    try {
      await install(workspace.client, agent, setProgress);
      await workspace.agents.reload();
    } catch (error) {
      setFailure(sayWhy(error));
    } finally {
      setProgress(null);
    }
  };
  return (
    <div className="install">
      {progress ? (
        <span className="installing" role="status">
          {progress.words}
          <progress aria-label={`Installing ${agent}`} value={progress.part ?? undefined} />
        </span>
      ) : (
        <Button small onClick={start} icon="download">
          Install
        </Button>
      )}
      {failure && (
        <small className="sa-bad-text" role="alert">
          {failure}
        </small>
      )}
    </div>
  );
}
