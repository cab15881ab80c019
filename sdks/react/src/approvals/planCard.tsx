/** A plan that needs approval. */
import type { QuestionEntry } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { useConversation } from "../session/sessionContext.js";
import { Markdown } from "../transcript/markdown.js";
import { TooLate } from "./tooLate.js";
import { useAnswer } from "./useAnswer.js";

const OUTCOMES = { requested: "", answered: "Approved", rejected: "Rejected" } as const;

export function PlanCard({ entry }: { entry: QuestionEntry }) {
  const { client, sessionId } = useConversation();
  const { busy, failure, answer } = useAnswer(entry.id);
  const open = entry.state === "requested";
  const approve = () => answer(() => client.replyQuestion(sessionId, entry.questionId, { answers: [["approve"]] }), "Approve");
  const reject = () => answer(() => client.rejectQuestion(sessionId, entry.questionId), "Reject");
  return (
    <section className={`sa-card ${open ? "sa-asks" : ""}`} role="group" aria-label="Plan">
      <header>
        <Icon name="list" />
        <strong>{open ? "Approve this plan?" : "Plan"}</strong>
        {!open && <span className={`sa-tag ${entry.state === "answered" ? "sa-good" : "sa-bad"}`}>{OUTCOMES[entry.state]}</span>}
      </header>
      <Markdown text={entry.prompt} />
      {!open && <TooLate requestId={entry.id} />}
      {open && (
        <div className="sa-card-actions">
          <Button look="primary" disabled={busy} onClick={approve}>
            Approve
          </Button>
          <Button look="quiet" disabled={busy} onClick={reject}>
            Reject
          </Button>
          <span className="sa-card-hint">Or write below what to change.</span>
        </div>
      )}
      {failure && (
        <p className="sa-bad-text" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
