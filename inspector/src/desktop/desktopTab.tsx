/** The desktop of the daemon's machine: start it, watch it, use it, and record it. */
import { type FormEvent, useState } from "react";
import type { DesktopStatus, RecordingInfo } from "sandbox-agentd";
import type { WindowInfo } from "../daemon/types";
import { saveBlob } from "../export/saveFile";
import { Refusal } from "../panel/refusal";
import { Button, IconButton } from "chat/parts/button";
import { CopyButton } from "chat/parts/copyButton";
import { bytes } from "chat/parts/format";
import { Notice } from "chat/parts/notice";
import { onDemand } from "../parts/onDemand";
import { sayWhy } from "chat/state/words";
import { type Attempt, useAttempt } from "../state/useAttempt";
import { useWorkspace } from "../state/workspace";
import { useDesktop } from "./useDesktop";
import "../styles/desktop.css";

const DesktopScreen = onDemand(() => import("./desktopScreen"));

const SIZES = ["1280x800", "1024x768", "1440x900", "1920x1080"];

export default function DesktopTab() {
  const { value: found, failure, reload } = useDesktop();
  const { problem, attempt } = useAttempt(reload);
  if (found === null) return failure ? <Refusal error={failure} onRetry={reload} /> : <p className="debugEmpty">Loading…</p>;
  const { status, recordings } = found;
  return (
    <div className="desktopTab">
      {problem && <Notice>{problem}</Notice>}
      {failure !== null && <Notice>{sayWhy(failure)}</Notice>}
      {status.state === "active" ? <Active status={status} recordings={recordings} attempt={attempt} /> : <Resting status={status} attempt={attempt} />}
      <Recordings recordings={recordings} attempt={attempt} />
    </div>
  );
}

function Resting({ status, attempt }: { status: DesktopStatus; attempt: Attempt }) {
  const { desktop } = useWorkspace().client;
  const [size, setSize] = useState(SIZES[0] as string);
  const [starting, setStarting] = useState(false);
  if (status.state === "install_required") return <Missing status={status} />;
  const start = async (event: FormEvent) => {
    event.preventDefault();
    const [width, height] = size.split("x").map(Number);
    setStarting(true);
    await attempt(() => desktop.start({ width, height }));
    setStarting(false);
  };
  return (
    <>
      {status.lastError && <Notice>{status.lastError.message}</Notice>}
      <form className="debugTools" onSubmit={start}>
        <select aria-label="Size" value={size} onChange={(event) => setSize(event.target.value)}>
          {SIZES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <Button type="submit" look="primary" disabled={starting || status.state !== "inactive" && status.state !== "failed"}>
          Start the desktop
        </Button>
      </form>
      <p className="debugEmpty">A desktop for programs with windows, on the daemon's machine. Sessions created with “desktop” can use it too.</p>
    </>
  );
}

function Missing({ status }: { status: DesktopStatus }) {
  const command = status.installCommand ?? "";
  return (
    <Notice tone="calm">
      <p>The desktop needs {status.missingDependencies?.join(", ")}. On the daemon's machine, run:</p>
      <p className="sa-mono desktopCommand">
        {command} <CopyButton text={command} />
      </p>
    </Notice>
  );
}

function Active({ status, recordings, attempt }: { status: DesktopStatus; recordings: readonly RecordingInfo[]; attempt: Attempt }) {
  const { desktop } = useWorkspace().client;
  const [viewOnly, setViewOnly] = useState(false);
  const isRecording = recordings.some((each) => each.status === "recording");
  const { width, height } = status.resolution ?? { width: 0, height: 0 };
  const screenshot = async () => saveBlob("desktop.png", await (await desktop.screenshot()).blob());
  return (
    <>
      <div className="debugTools">
        <label className="desktopSwitch">
          <input type="checkbox" checked={viewOnly} onChange={(event) => setViewOnly(event.target.checked)} /> View only
        </label>
        <span className="debugCount sa-grow">
          {status.display} · {width}×{height}
        </span>
        <IconButton icon="download" label="Save a screenshot" onClick={() => void attempt(screenshot)} />
        <Button small onClick={() => void attempt(() => isRecording ? desktop.stopRecording() : desktop.record())}>
          {isRecording ? "Stop recording" : "Record"}
        </Button>
        <Button small icon="stop" onClick={() => void attempt(() => desktop.stop())}>
          Stop
        </Button>
      </div>
      <DesktopScreen key={status.startedAt} viewOnly={viewOnly} />
      <Windows windows={status.windows ?? []} attempt={attempt} />
      <Clipboard attempt={attempt} />
    </>
  );
}

function Windows({ windows, attempt }: { windows: readonly WindowInfo[]; attempt: Attempt }) {
  const { desktop } = useWorkspace().client;
  return (
    <section aria-label="Windows">
      <h3>Windows</h3>
      {windows.length === 0 && <p className="debugCount">No window is open.</p>}
      {windows.map(({ id, title, isActive, width, height }) => (
        <button key={id} type="button" className="requestRow" aria-pressed={isActive} onClick={() => void attempt(() => desktop.focus(id))}>
          <span className="sa-grow">{title || "(no title)"}</span>
          <span className="eventTime">
            {width}×{height}
          </span>
        </button>
      ))}
    </section>
  );
}

function Clipboard({ attempt }: { attempt: Attempt }) {
  const { desktop } = useWorkspace().client;
  const [text, setText] = useState("");
  return (
    <section aria-label="Clipboard of the desktop">
      <h3>Clipboard</h3>
      <textarea aria-label="Text of the clipboard" rows={2} value={text} onChange={(event) => setText(event.target.value)} />
      <div className="debugTools">
        <Button small onClick={() => void attempt(async () => setText((await desktop.clipboard()).text))}>
          Read
        </Button>
        <Button small disabled={!text} onClick={() => void attempt(() => desktop.setClipboard({ text }))}>
          Write
        </Button>
      </div>
    </section>
  );
}

function Recordings({ recordings, attempt }: { recordings: readonly RecordingInfo[]; attempt: Attempt }) {
  const { desktop } = useWorkspace().client;
  if (recordings.length === 0) return null;
  return (
    <section aria-label="Recordings">
      <h3>Recordings</h3>
      {recordings.map(({ id, fileName, status, bytes: size }) => (
        <div key={id} className="desktopRecording">
          <span className="sa-grow">{fileName}</span>
          <span className={`eventTime ${status === "failed" ? "sa-bad-text" : ""}`}>{status === "completed" ? bytes(size) : status}</span>
          {status !== "recording" && (
            <>
              <IconButton icon="download" label={`Save ${fileName}`} onClick={() => void attempt(async () => saveBlob(fileName, await (await desktop.downloadRecording(id)).blob()))} />
              <IconButton icon="trash" label={`Delete ${fileName}`} onClick={() => void attempt(() => desktop.deleteRecording(id))} />
            </>
          )}
        </div>
      ))}
    </section>
  );
}
