/** One process: its details, its output, and buttons to end it. */
import { useState } from "react";
import type { ProcessInfo } from "sandbox-agentd";
import { Button, IconButton } from "chat/parts/button";
import { moment } from "chat/parts/format";
import type { Attempt } from "../state/useAttempt";
import { useWorkspace } from "../state/workspace";
import { Terminal } from "chat/transcript/terminal";
import { useProcessLog } from "./useProcessLog";

interface Props {
  process: ProcessInfo;
  attempt: Attempt;
  onClose: () => void;
}

export function ProcessDetail({ process, attempt, onClose }: Props) {
  const { processes } = useWorkspace().client;
  const { text, isCut, failure } = useProcessLog(process.id);
  const [busy, setBusy] = useState(false);
  const act = async (action: () => Promise<unknown>) => {
    setBusy(true);
    await attempt(action);
    setBusy(false);
  };
  return (
    <section className="eventDetail processDetail" aria-label="Process">
      <header>
        <strong>{process.id}</strong>
        <span title={process.cwd ?? undefined}>
          {process.pid != null && `pid ${process.pid} · `}
          {moment(process.createdAtMs)}
        </span>
        <span className="sa-grow" />
        {process.status === "running" ? (
          <>
            <Button small disabled={busy} title="SIGTERM" onClick={() => act(() => processes.stop(process.id))}>
              Stop
            </Button>
            <Button small look="danger" disabled={busy} title="Send SIGKILL to it and everything it started" onClick={() => act(() => processes.kill(process.id))}>
              Kill
            </Button>
          </>
        ) : (
          <Button small icon="trash" disabled={busy} onClick={() => act(() => processes.delete(process.id))}>
            Forget
          </Button>
        )}
        <IconButton icon="close" label="Close the process" onClick={onClose} />
      </header>
      <div className="processLog">
        {failure && <p className="sa-bad-text">{failure}</p>}
        {isCut && <p className="sa-faint">Only the latest output is shown.</p>}
        {text ? <Terminal text={text} label="Output" /> : <p className="sa-faint">{process.status === "running" ? "No output yet." : "No output."}</p>}
      </div>
    </section>
  );
}
