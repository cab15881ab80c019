/** The composer: text, files, earlier messages, and a button to stop the running turn. */
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { DaemonUnreachable, type QuestionEntry } from "sandbox-agentd";
import { Button, IconButton } from "../parts/button.js";
import { PermissionSelect } from "../session/permissionSelect.js";
import { SessionContext } from "../session/sessionContext.js";
import type { ChatSession } from "../session/useSession.js";
import { useObserved } from "../state/observable.js";
import { isLate } from "../approvals/useAnswer.js";
import { AttachmentChips } from "./attachmentChips.js";
import { useAttachments } from "./attachments.js";
import { CommandMenu, isCommand, offeredFor, useCommands } from "./commandMenu.js";
import { useDroppedFiles } from "./droppedFiles.js";
import { drafts, history } from "./memory.js";
import { useOpenQuestion } from "./openQuestion.js";
import { QueueList } from "./queueList.js";
import { type Failure, isLimit, Refused, type ComposerAction } from "./refused.js";
import { useRecall } from "./useRecall.js";

export interface ComposerProps {
  session: ChatSession;
  /** The placeholder while the agent is idle. */
  placeholder?: string;
  /** Focus the field when the session is shown. */
  autoFocus?: boolean;
  /** Whether files can be attached. Default: true. */
  attachments?: boolean;
  /** Where files can be dropped. Default: on the composer. */
  dropZone?: "composer" | "page";
  /** Show a select for what the agent may do without asking. */
  permissionMode?: boolean;
  /** Text to start with, chosen elsewhere. A new object sets it again. */
  suggestion?: Suggestion | null;
  className?: string;
}

export interface Suggestion {
  readonly text: string;
}

/** The input field for messages. It also shows queued messages, and stops the running turn. */
export function Composer(props: ComposerProps) {
  return (
    <SessionContext.Provider value={props.session.conversation}>
      <Writing key={props.session.id} {...props} />
    </SessionContext.Provider>
  );
}

function Writing(props: ComposerProps) {
  const { session, suggestion = null, autoFocus = false, className = "" } = props;
  const { id: sessionId, client, transcript, info, state } = session;
  const { connection } = session.conversation;
  const { ownTurns, lateAnswers } = connection;
  const { opened } = useObserved(connection);
  const box = useRef<HTMLDivElement>(null);
  const [text, setText] = useState(() => drafts.get(sessionId));
  const [sending, setSending] = useState(false);
  // The message was sent while a file was still uploading: send it once the upload is done.
  const [waiting, setWaiting] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const fail = (action: ComposerAction, why: unknown) => setFailure({ action, why, opened });
  const area = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const attachments = useAttachments(client, sessionId);
  const [chosen, setChosen] = useState(0);
  const commands = useCommands(client, sessionId, text.startsWith("/"));
  const offered = offeredFor(text, commands);
  const busy = state === "running" || state === "requires_action";
  const asked = useOpenQuestion(transcript, text);
  // Files and commands cannot answer a question: they wait for their turn.
  const question = attachments.uploads.length === 0 && !isCommand(text, commands) ? asked : null;
  const ready = (text.trim() !== "" || attachments.uploads.length > 0) && !sending && !waiting;

  const write = (value: string) => {
    setText(value);
    setChosen(0);
  };
  const recall = useRecall(write);

  useEffect(() => drafts.set(sessionId, text), [sessionId, text]);
  useEffect(
    () => drafts.onSent((id, sent) => id === sessionId && setText((now) => (now === sent ? "" : now))),
    [sessionId],
  );
  useEffect(() => {
    if (autoFocus) area.current?.focus({ preventScroll: true });
  }, [sessionId]);
  useEffect(() => {
    if (area.current) fit(area.current);
  }, [text]);

  useEffect(() => {
    if (!suggestion) return;
    setText(suggestion.text);
    area.current?.focus();
  }, [suggestion]);

  // The daemon is back: what is still in the field can be sent now.
  useEffect(() => setFailure((before) => (before?.why instanceof DaemonUnreachable && before.opened < opened ? null : before)), [opened]);

  // The limit was raised or removed.
  const isLimited = info?.limitReached != null;
  useEffect(() => setFailure((before) => (before && isLimit(before.why) && !isLimited ? null : before)), [isLimited]);

  // The turn has ended after all.
  useEffect(() => setFailure((before) => (before?.action === "stop" && !busy ? null : before)), [busy]);

  const canAttach = (props.attachments ?? true) && state !== "ended";
  useDroppedFiles(props.dropZone === "page" ? null : box, (files) => canAttach && attachments.add(files));

  const latestSend = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (!waiting || attachments.uploading) return;
    setWaiting(false);
    latestSend.current();
  }, [waiting, attachments.uploading]);

  if (state === "ended") {
    return (
      <div ref={box} className={`sandbox-agent sa-composer sa-ended ${className}`}>
        <p className="sa-muted">This session has ended. Its transcript stays; a new session begins a new conversation.</p>
      </div>
    );
  }

  const submit = () => {
    if (!ready) return;
    if (question) void reply(question);
    else if (attachments.uploading) setWaiting(true);
    else void send();
  };

  const send = async (fresh = false) => {
    setSending(true);
    setFailure(null);
    const command = isCommand(text, commands);
    const body = { message: text, attachments: attachments.ready, ...(fresh && { fresh }), ...(command && { command }) };
    const idempotencyKey = drafts.keyFor(sessionId, JSON.stringify(body));
    try {
      await ownTurns.during(text, () => client.sendMessage(sessionId, body, { idempotencyKey }));
      attachments.clear();
      done();
    } catch (error) {
      fail("send", error);
    } finally {
      setSending(false);
      area.current?.focus();
    }
  };

  /** Each of several questions gets the same text: the agent works out which one it answers. */
  const reply = async (asked: QuestionEntry) => {
    setSending(true);
    setFailure(null);
    const answers = asked.questions.map(() => [text.trim()]);
    try {
      await client.replyQuestion(sessionId, asked.questionId, { answers });
      done();
    } catch (error) {
      if (isLate(error)) lateAnswers.add(asked.id, text.trim());
      else fail("send", error);
    } finally {
      setSending(false);
      area.current?.focus();
    }
  };

  const done = () => {
    history.add(text);
    drafts.sent(sessionId, text);
    write("");
    recall.end();
  };

  latestSend.current = () => void send();

  const attempt = async (action: ComposerAction, act: () => Promise<unknown>) => {
    setFailure(null);
    try {
      await act();
    } catch (error) {
      fail(action, error);
    }
  };
  const cancel = () => attempt("stop", session.cancel);
  /** Whatever runs: a message may have started while the queue was being cleared. */
  const cancelAny = () => attempt("stop", () => client.cancelSession(sessionId));

  const fill = (name: string) => {
    write(`/${name} `);
    area.current?.focus();
  };

  /** Whether the command menu handled the key. Enter sends a complete name. */
  const choose = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const command = offered[chosen];
    if (key === "ArrowDown") setChosen((chosen + 1) % offered.length);
    else if (key === "ArrowUp") setChosen((chosen + offered.length - 1) % offered.length);
    else if (command && !shiftKey && (key === "Tab" || (key === "Enter" && !isCommand(text, offered)))) fill(command.name);
    else return false;
    return true;
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || event.altKey) return;
    if (offered.length > 0 && choose(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && busy) {
      event.preventDefault();
      void cancel();
    } else if (event.key === "ArrowUp" && (text === "" || recall.isActive)) {
      event.preventDefault();
      recall.step(-1);
    } else if (event.key === "ArrowDown" && recall.isActive) {
      event.preventDefault();
      recall.step(1);
    }
  };

  const onPaste = (event: ClipboardEvent) => {
    if (!canAttach || event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.clipboardData.files);
  };

  return (
    // It takes focus from buttons in it that disappear.
    <div ref={box} tabIndex={-1} className={`sandbox-agent sa-composer ${className}`}>
      <QueueList queued={transcript.queued} onStop={cancelAny} />
      <div className="sa-composer-box">
        <CommandMenu offered={offered} chosen={chosen} onChoose={({ name }) => fill(name)} />
        <AttachmentChips attachments={attachments} />
        <textarea
          ref={area}
          name="message"
          dir="auto"
          rows={1}
          aria-label="Message"
          placeholder={placeholderOf(question, busy, props.placeholder)}
          value={text}
          onChange={(event) => {
            write(event.target.value);
            recall.end();
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className="sa-composer-tools">
          {canAttach && <IconButton icon="clip" label="Attach files" onClick={() => files.current?.click()} />}
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
          {props.permissionMode && info && (
            <PermissionSelect
              className="sa-quiet-select"
              label="Permission mode"
              value={info.permissionMode}
              onChange={(permissionMode) => void attempt("switch", () => client.updateSession(sessionId, { permissionMode }))}
            />
          )}
          <span className="sa-grow" />
          {question && text.trim() !== "" && (
            <Button look="quiet" className="sa-queue-instead" onClick={() => void send()} disabled={!ready}>
              Queue as a message
            </Button>
          )}
          {busy && (
            <Button icon="stop" onClick={cancel} keys="Esc">
              Stop
            </Button>
          )}
          <Button look="primary" icon="arrowUp" onClick={submit} disabled={!ready}>
            {waiting ? "Uploading…" : question ? "Send answer" : busy ? "Queue" : "Send"}
          </Button>
        </div>
      </div>
      {failure && <Refused failure={failure} onFresh={() => send(true)} />}
    </div>
  );
}

function placeholderOf(question: QuestionEntry | null, busy: boolean, idle = "Message the agent"): string {
  if (question?.isPlan) return "Say what to change in the plan";
  if (question) return question.questions.length > 1 ? `Answer all ${question.questions.length} questions` : "Answer the question";
  return busy ? "Queue a message for after this turn" : idle;
}

/** Grows with the text, up to the limit that the style sets. */
function fit(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
