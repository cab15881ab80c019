/** A tool call with its result: one line that unfolds to its input, output and changes. */
import { useMemo } from "react";
import type { PermissionEntry, StatusEntry, ToolEntry } from "sandbox-agentd";
import { CodeText } from "../code/codeText.js";
import { useNow } from "../parts/clock.js";
import { duration, plural, pretty, withoutDirectory } from "../parts/format.js";
import { Icon, type IconName } from "../parts/icon.js";
import { useDirectory } from "../session/sessionContext.js";
import { commandOf } from "./commandOf.js";
import { DiffCounts, DiffView } from "./diffView.js";
import { parsedDiff } from "./diff.js";
import { exact } from "./exact.js";
import { Foldable, type Fold } from "./foldable.js";
import { Images } from "./images.js";
import { Json } from "./json.js";
import { Markdown } from "./markdown.js";
import { KindIcon } from "./kindIcon.js";
import { answerOf, messageOf, outcomeOf } from "./outcome.js";
import { planSteps, Steps } from "./steps.js";
import { Terminal } from "./terminal.js";

interface Call {
  entry: ToolEntry;
  decision: PermissionEntry | null;
  answer: StatusEntry | null;
}

export function Tool({ entry, decision, answer, ...fold }: Call & Fold) {
  return (
    <Foldable className={`sa-tool sa-${entry.status}`} {...fold} line={<ToolLine entry={entry} decision={decision} answer={answer} />}>
      <ToolInput entry={entry} />
      {/* The steps of a sub-agent lie between what it was asked and what it found. */}
      {entry.children.length === 0 && <ToolResult entry={entry} />}
    </Foldable>
  );
}

function ToolLine({ entry, decision, answer }: Call) {
  const counts = useMemo(() => changeCounts(entry), [entry]);
  const directory = useDirectory();
  return (
    <>
      <ToolState entry={entry} />
      <KindIcon kind={entry.toolKind} />
      <span className="sa-fold-name">{entry.name}</span>
      <span className="sa-fold-summary sa-mono" title={entry.title}>
        {entry.title !== entry.name && exact(withoutDirectory(entry.title, directory))}
      </span>
      {decision && <Decision entry={decision} />}
      {answer && <ClientAnswer entry={answer} />}
      {counts && <DiffCounts diff={counts} />}
      {entry.children.length > 0 && <span className="sa-fold-fact">{plural(entry.children.length, "step")}</span>}
      {entry.exitCode !== null && entry.exitCode !== 0 && <span className="sa-fold-fact sa-bad-text">exit {entry.exitCode}</span>}
      {entry.durationMs === null && <Running since={entry.time} />}
      {entry.durationMs !== null && entry.durationMs >= SHORTEST_SHOWN_MS && <span className="sa-fold-fact">{duration(entry.durationMs)}</span>}
    </>
  );
}

/** Shorter durations are not shown. */
const SHORTEST_SHOWN_MS = 100;

const STATES: Readonly<Record<ToolEntry["status"], readonly [IconName, string]>> = {
  in_progress: ["clock", "running"],
  completed: ["check", "done"],
  failed: ["cross", "failed"],
};

function ToolState({ entry }: { entry: ToolEntry }) {
  const [icon, words] = STATES[entry.status];
  return (
    <span className={`sa-tool-state sa-${entry.status}`}>
      {entry.status === "in_progress" ? <span className="sa-spinner" /> : <Icon name={icon} size={14} />}
      <span className="sa-offscreen">{words}</span>
    </span>
  );
}

function Running({ since }: { since: string }) {
  const now = useNow();
  const passed = now - Date.parse(since);
  return passed > 1500 ? <span className="sa-fold-fact">{duration(Math.floor(passed / 1000) * 1000)}</span> : null;
}

/** The decision about the call. The reason of a rejection is worth reading, so it is shown in full. */
function Decision({ entry }: { entry: PermissionEntry }) {
  const rejected = entry.state === "reject";
  const message = messageOf(entry);
  return (
    <span className={`sa-decision ${rejected ? "sa-rejected" : ""}`}>
      <Icon name="shield" size={12} />
      {outcomeOf(entry)}
      {message && <span className="sa-resolved-message">“{message}”</span>}
    </span>
  );
}

/** Who answered a call to a client's tool, or why nobody did. */
function ClientAnswer({ entry }: { entry: StatusEntry }) {
  const { words, error } = answerOf(entry);
  return (
    <span className={`sa-decision ${entry.status === "failed" ? "sa-rejected" : ""}`}>
      <Icon name="question" size={12} />
      {words}
      {error && <span className="sa-resolved-message">“{error}”</span>}
    </span>
  );
}

function ToolInput({ entry }: { entry: ToolEntry }) {
  const command = commandOf(entry);
  const steps = planSteps(entry.input);
  return (
    <>
      {command !== null && <Command text={command} />}
      {steps.length > 0 && <Steps steps={steps} />}
      {command === null && steps.length === 0 && <Arguments entry={entry} />}
    </>
  );
}

export function ToolResult({ entry }: { entry: ToolEntry }) {
  const directory = useDirectory();
  return (
    <>
      {entry.files.map((file) => (
        <DiffView key={file.path} path={file.path} action={file.action} diff={file.diff ?? null} to={file.to} directory={directory} />
      ))}
      {entry.output && <Output entry={entry} />}
      {entry.outputFinal && !entry.output && entry.files.length === 0 && entry.images.length === 0 && <p className="sa-faint">No output.</p>}
      <Images images={entry.images} />
    </>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <pre className="sa-command" tabIndex={0}>
      <span aria-hidden="true">$ </span>
      <CodeText text={text} language="bash" />
    </pre>
  );
}

function Arguments({ entry }: { entry: ToolEntry }) {
  if (entry.input === null) return entry.arguments ? <pre className="sa-plain-pre">{entry.arguments}</pre> : null;
  if (isEmpty(entry.input)) return null;
  const shown = <Json label="Arguments" text={pretty(entry.input)} />;
  // The change says more than the text that was written.
  if (!entry.files.some((file) => file.diff)) return shown;
  return (
    <details className="sa-arguments">
      <summary>Arguments</summary>
      {shown}
    </details>
  );
}

/** A sub-agent's report is prose; other output is for a terminal. */
function Output({ entry }: { entry: ToolEntry }) {
  if (entry.toolKind === "task" || entry.children.length > 0) return <Markdown text={entry.output} />;
  return <Terminal text={entry.output} label={`Output of ${entry.name}`} />;
}

function isEmpty(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length === 0;
}

function changeCounts(entry: ToolEntry): { added: number; removed: number } | null {
  const diffs = entry.files.flatMap((file) => (file.diff ? [parsedDiff(file.diff)] : []));
  if (diffs.length === 0) return null;
  const sum = (pick: "added" | "removed") => diffs.reduce((total, diff) => total + diff[pick], 0);
  return { added: sum("added"), removed: sum("removed") };
}
