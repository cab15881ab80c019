/** A call to a client's tool. A program answers most of them; a person can answer those that wait. */
import { type FormEvent, useState } from "react";
import type { StatusEntry, ToolReply } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { pretty } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { useConversation } from "../session/sessionContext.js";
import { Json } from "../transcript/json.js";
import { answerOf } from "../transcript/outcome.js";
import { asRecord } from "../transcript/record.js";
import { TooLate } from "./tooLate.js";
import { useAnswer } from "./useAnswer.js";

export function ToolRequestCard({ entry }: { entry: StatusEntry }) {
  if (entry.status !== "in_progress") return <Resolved entry={entry} />;
  return <Asking entry={entry} />;
}

function Resolved({ entry }: { entry: StatusEntry }) {
  const failed = entry.status === "failed";
  const { words, error } = answerOf(entry);
  return (
    <div className={`sa-resolved ${failed ? "sa-rejected" : "sa-accepted"}`}>
      <Icon name={failed ? "cross" : "check"} size={14} />
      <span>{words}</span>
      <span className="sa-fold-summary sa-mono">{entry.detail}</span>
      {error && <span className="sa-resolved-message">“{error}”</span>}
      <TooLate requestId={entry.id} />
    </div>
  );
}

function Asking({ entry }: { entry: StatusEntry }) {
  const { client, sessionId } = useConversation();
  const { busy, failure, answer } = useAnswer(entry.id);
  const [text, setText] = useState("");
  const data = asRecord(entry.data);
  const reply = (body: ToolReply) => answer(() => client.replyToolCall(sessionId, String(data?.call_id), body), text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void reply({ output: text });
  };
  return (
    <section className="sa-card sa-asks" role="group" aria-label={`Tool: ${entry.detail}`}>
      <header>
        <Icon name="question" />
        <strong>{entry.detail} waits for its result</strong>
      </header>
      <Json label="Arguments" text={pretty(data?.arguments)} />
      <form onSubmit={submit}>
        <textarea
          name="output"
          aria-label="What the tool returns, or why it fails"
          placeholder="What the tool returns, or why it fails"
          rows={2}
          value={text}
          disabled={busy}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="sa-card-actions">
          <Button type="submit" look="primary" disabled={busy}>
            Answer
          </Button>
          <Button look="danger" disabled={busy || text.trim() === ""} onClick={() => reply({ error: text })}>
            Fail
          </Button>
        </div>
      </form>
      {failure && (
        <p className="sa-bad-text" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
