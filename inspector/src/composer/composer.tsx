/** Where one writes: text, files, earlier messages; and the way to stop what runs. */
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Transcript } from "sdk/transcript";
import { idempotencyKey, sessionPath } from "../daemon/daemon";
import { sayWhy, Unreachable } from "../daemon/problem";
import type { SessionInfo } from "../daemon/types";
import { Button, IconButton } from "../parts/button";
import { useWorkspace } from "../state/workspace";
import { AttachmentChips } from "./attachmentChips";
import { useAttachments } from "./attachments";
import { drafts, history } from "./memory";
import { QueueList } from "./queueList";

interface Props {
  sessionId: string;
  info: SessionInfo | null;
  transcript: Transcript;
}

export function Composer({ sessionId, info, transcript }: Props) {
  const { daemon } = useWorkspace();
  const [text, setText] = useState(() => drafts.get(sessionId));
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const [recalled, setRecalled] = useState<number | null>(null);
  // A message that may have arrived is sent again under the same key: it becomes one turn, not two.
  const retryKey = useRef<string | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const attachments = useAttachments(daemon, sessionId);
  const state = info?.state ?? transcript.state;
  const busy = state === "running" || state === "requires_action";
  const ready = (text.trim() !== "" || attachments.ready.length > 0) && !attachments.uploading && !sending;

  useEffect(() => drafts.set(sessionId, text), [sessionId, text]);
  useEffect(() => area.current?.focus({ preventScroll: true }), [sessionId]);
  useEffect(() => {
    if (area.current) fit(area.current);
  }, [text]);

  if (state === "ended") {
    return (
      <footer className="composer ended">
        <p className="muted">This session has ended. Its transcript stays; a new session begins a new conversation.</p>
      </footer>
    );
  }

  const write = (value: string) => {
    setText(value);
    retryKey.current = null;
  };

  const send = async () => {
    if (!ready) return;
    setSending(true);
    setFailure(null);
    retryKey.current ??= idempotencyKey();
    const body = { message: text, attachments: attachments.ready };
    try {
      await daemon.post(sessionPath(sessionId, "messages"), body, { "Idempotency-Key": retryKey.current });
      history.add(text);
      write("");
      setRecalled(null);
      attachments.clear();
    } catch (error) {
      setFailure(error instanceof Unreachable ? "Not sent: the daemon does not answer. Send it again when it is back." : sayWhy(error));
    } finally {
      setSending(false);
      area.current?.focus();
    }
  };

  const cancel = async () => {
    try {
      await daemon.post(sessionPath(sessionId, "cancel"));
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };

  const recall = (by: number) => {
    const next = (recalled ?? history.length) + by;
    if (next < 0 || next > history.length) return;
    setRecalled(next === history.length ? null : next);
    write(history.at(next));
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || event.altKey) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "Escape" && busy) {
      event.preventDefault();
      void cancel();
    } else if (event.key === "ArrowUp" && (text === "" || recalled !== null)) {
      event.preventDefault();
      recall(-1);
    } else if (event.key === "ArrowDown" && recalled !== null) {
      event.preventDefault();
      recall(1);
    }
  };

  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.clipboardData.files);
  };

  return (
    <footer className="composer" onDrop={onDrop} onDragOver={(event) => event.preventDefault()}>
      <QueueList sessionId={sessionId} queued={transcript.queued} />
      <div className="composerBox">
        <AttachmentChips attachments={attachments} />
        <textarea
          ref={area}
          name="message"
          rows={1}
          aria-label="Message"
          placeholder={busy ? "The next message waits for its turn" : "Message the agent"}
          value={text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className="composerTools">
          <IconButton icon="clip" label="Attach files" onClick={() => files.current?.click()} />
          <input
            ref={files}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={(event) => {
              if (event.target.files) attachments.add(event.target.files);
              event.target.value = "";
            }}
          />
          <span className="composerHint">Enter sends · Shift Enter breaks the line</span>
          {busy && (
            <Button icon="stop" onClick={cancel} keys="Esc">
              Stop
            </Button>
          )}
          <Button look="primary" icon="arrowUp" onClick={send} disabled={!ready}>
            {busy ? "Queue" : "Send"}
          </Button>
        </div>
      </div>
      {failure && (
        <p className="badText" role="alert">
          {failure}
        </p>
      )}
    </footer>
  );
}

/** As high as its text, up to the limit that the style sets. */
function fit(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
