/** Processes of the daemon's machine, running and ended, with their output. */
import { type FormEvent, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { ProcessInfo } from "sandbox-agentd";
import { Refusal } from "../panel/refusal";
import { Button } from "chat/parts/button";
import { useNow } from "chat/parts/clock";
import { bytes, duration } from "chat/parts/format";
import { Notice } from "chat/parts/notice";
import { useDirectory } from "../state/directory";
import { useAttempt } from "../state/useAttempt";
import { useWorkspace } from "../state/workspace";
import { ProcessDetail } from "./processDetail";
import { commandLineOf, useProcesses } from "./useProcesses";

export default function ProcessesTab({ sessionId }: { sessionId: string | null }) {
  const { client } = useWorkspace();
  const { value: processes, failure, reload } = useProcesses();
  const { problem, attempt } = useAttempt(reload);
  const directory = useDirectory(sessionId);
  const [chosen, setChosen] = useState<string | null>(null);
  const [command, setCommand] = useState("");
  const [starting, setStarting] = useState(false);

  if (processes === null) return failure ? <Refusal error={failure} onRetry={reload} /> : <p className="debugEmpty">Loading the processes…</p>;

  const start = async (event: FormEvent) => {
    event.preventDefault();
    const words = command.trim();
    if (!words || starting) return;
    setStarting(true);
    await attempt(async () => {
      const started = await client.processes.create({ command: "sh", args: ["-c", words], ...(directory && { cwd: directory }) });
      setChosen(started.id);
      setCommand("");
    });
    setStarting(false);
  };
  const shown = processes.find(({ id }) => id === chosen);
  const running = processes.filter(({ status }) => status === "running").length;

  return (
    <div className="eventsTab">
      <form className="debugTools" onSubmit={start}>
        <input
          className="sa-grow sa-mono"
          placeholder="Start a command, e.g. npm run dev"
          aria-label="Command"
          title={directory ? `Runs in ${directory}` : "Runs in the daemon's own folder"}
          value={command}
          onChange={(event) => setCommand(event.target.value)}
        />
        <Button type="submit" small icon="bolt" disabled={starting || !command.trim()}>
          Start
        </Button>
      </form>
      <p className="debugCount">
        {running} running, {processes.length - running} ended
        {failure !== null && <span className="sa-bad-text"> · {sayWhy(failure)}</span>}
      </p>
      {problem && (
        <div className="tabNotice">
          <Notice>{problem}</Notice>
        </div>
      )}
      <div className="eventList" tabIndex={0} role="region" aria-label="Processes">
        {processes.length === 0 && <p className="debugEmpty">No processes yet. Agents are not listed here: they belong to their sessions.</p>}
        {processes.map((process) => (
          <ProcessRow key={process.id} process={process} isChosen={process.id === chosen} onChoose={() => setChosen(process.id)} />
        ))}
      </div>
      {shown && <ProcessDetail key={shown.id} process={shown} attempt={attempt} onClose={() => setChosen(null)} />}
    </div>
  );
}

function ProcessRow({ process, isChosen, onChoose }: { process: ProcessInfo; isChosen: boolean; onChoose: () => void }) {
  const now = useNow();
  const { cpuSeconds, memoryBytes } = process;
  return (
    <button type="button" className="requestRow processRow" aria-pressed={isChosen} onClick={onChoose}>
      <span className={`processDot ${process.status}`} />
      <span className="processCommand">{commandLineOf(process)}</span>
      {process.status === "running" ? (
        <>
          {memoryBytes != null && <span className="eventTime">{bytes(memoryBytes)}</span>}
          {cpuSeconds != null && <span className="eventTime">CPU {cpuSeconds.toFixed(1)} s</span>}
          <span className="eventTime">{duration(Math.max(0, now - process.createdAtMs))}</span>
        </>
      ) : (
        <span className={`eventTime ${process.exitCode === 0 ? "" : "sa-bad-text"}`}>{endOf(process)}</span>
      )}
    </button>
  );
}

/** A short description of how it ended. */
export function endOf({ exitCode, endedBy, signal }: ProcessInfo): string {
  if (endedBy === "daemon") return "ended with the daemon";
  if (signal) return signal;
  return exitCode === 0 ? "done" : `exit code ${exitCode ?? "unknown"}`;
}
