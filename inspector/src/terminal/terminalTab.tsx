/** The terminals of the daemon, one at a time. A terminal keeps running while it is hidden. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Problem, type ProcessInfo } from "sandbox-agentd";
import { Refusal } from "../panel/refusal";
import { Button, IconButton } from "chat/parts/button";
import { Confirm } from "../parts/confirm";
import { Notice } from "chat/parts/notice";
import { onDemand } from "../parts/onDemand";
import { commandLineOf, useProcesses } from "../processes/useProcesses";
import { useDirectory } from "../state/directory";
import { useAttempt } from "../state/useAttempt";
import { useWorkspace } from "../state/workspace";

const TerminalScreen = onDemand(() => import("./terminalScreen"));

export default function TerminalTab({ sessionId }: { sessionId: string | null }) {
  const { processes: api } = useWorkspace().client;
  const directory = useDirectory(sessionId);
  const { value: processes, failure, reload } = useProcesses();
  const { problem, attempt } = useAttempt(reload);
  const [chosen, setChosen] = useState<string | null>(null);
  const [ending, setEnding] = useState<ProcessInfo | null>(null);
  const [starting, setStarting] = useState(false);
  const list = useRef<HTMLDivElement>(null);

  // A terminal that ends while it is shown stays until it is closed or another one is selected.
  const terminals = (processes ?? []).filter((process) => process.tty && (process.status === "running" || process.id === chosen)).reverse();
  const shown = terminals.find(({ id }) => id === chosen) ?? terminals.at(-1);
  useEffect(() => setChosen(shown?.id ?? null), [shown?.id]);

  if (processes === null) return failure ? <Refusal error={failure} onRetry={reload} /> : <p className="debugEmpty">Loading the terminals…</p>;

  const start = async () => {
    setStarting(true);
    await attempt(async () => {
      // Not every machine has it.
      const shell = await startShell("bash").catch((error: unknown) => {
        if (error instanceof Problem && error.facts.field === "command") return startShell("sh");
        throw error;
      });
      // It can be selected once it is in the list.
      await reload();
      setChosen(shell.id);
    });
    setStarting(false);
  };
  const startShell = (command: string) =>
    api.create({ command, tty: true, interactive: true, ...(directory && { cwd: directory }) });
  const end = ({ id, status }: ProcessInfo) =>
    attempt(async () => {
      if (status === "running") await api.kill(id);
      await api.delete(id);
    });
  const focusTab = () => list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!by || !shown) return;
    const next = terminals[(terminals.indexOf(shown) + by + terminals.length) % terminals.length];
    if (next) setChosen(next.id);
  };

  return (
    <div className="terminalTab">
      <div className="terminalTabs">
        {terminals.length > 0 && (
          <div ref={list} className="tabs" role="tablist" aria-label="Terminals" onKeyDown={onKeyDown}>
            {terminals.map((process) => (
              <button
                key={process.id}
                type="button"
                role="tab"
                aria-selected={process === shown}
                aria-controls="terminal-body"
                tabIndex={process === shown ? 0 : -1}
                title={`${process.id} in ${process.cwd ?? "the daemon's folder"}`}
                onClick={() => setChosen(process.id)}
              >
                {commandLineOf(process)} <span className="sa-faint">{process.id.replace(/^proc_/, "")}</span>
              </button>
            ))}
          </div>
        )}
        <IconButton icon="plus" label="New terminal" disabled={starting} onClick={start} />
        <span className="sa-grow" />
        {shown && (
          <IconButton
            icon="trash"
            label={shown.status === "running" ? "End this terminal" : "Forget this terminal"}
            onClick={() => (shown.status === "running" ? setEnding(shown) : void end(shown))}
          />
        )}
      </div>
      {problem && <Notice>{problem}</Notice>}
      <div className="terminalBody" id="terminal-body" role={shown ? "tabpanel" : undefined} aria-label={shown ? "Screen" : undefined}>
        {shown ? (
          <TerminalScreen key={shown.id} processId={shown.id} name={commandLineOf(shown)} onEnd={reload} onLeave={focusTab} />
        ) : (
          <div className="debugEmpty">
            <p>No terminal is open. A terminal runs on the daemon's machine, in the directory of the session.</p>
            <Button look="primary" icon="terminal" disabled={starting} onClick={start}>
              New terminal
            </Button>
          </div>
        )}
      </div>
      {ending && (
        <Confirm
          title="End the terminal?"
          words={`“${commandLineOf(ending)}” and everything it started will be ended.`}
          action="End it"
          onClose={() => setEnding(null)}
          onConfirm={() => void end(ending)}
        />
      )}
    </div>
  );
}
