/** One or more questions from the agent: labels to choose from, several if allowed, or free text. */
import { type FormEvent, useState } from "react";
import type { AskedQuestion, QuestionEntry } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { useConversation } from "../session/sessionContext.js";
import { TooLate } from "./tooLate.js";
import { useAnswer } from "./useAnswer.js";

export function QuestionCard({ entry }: { entry: QuestionEntry }) {
  if (entry.state !== "requested") return <Resolved entry={entry} />;
  return <Asking entry={entry} />;
}

function Resolved({ entry }: { entry: QuestionEntry }) {
  const rejected = entry.state === "rejected";
  return (
    <div className={`sa-resolved sa-question ${rejected ? "sa-rejected" : "sa-accepted"}`}>
      <Icon name={rejected ? "cross" : "check"} size={14} />
      <dl>
        {entry.questions.map((question, index) => (
          <div key={index}>
            <dt>{question.question}</dt>
            <dd>{rejected ? "Not answered" : entry.answers?.[index]?.join(", ") || "—"}</dd>
          </div>
        ))}
      </dl>
      {entry.message && <span className="sa-resolved-message">“{entry.message}”</span>}
      <TooLate requestId={entry.id} />
    </div>
  );
}

interface Choice {
  labels: readonly string[];
  own: string;
}

function Asking({ entry }: { entry: QuestionEntry }) {
  const { client, sessionId } = useConversation();
  const { busy, failure, answer } = useAnswer(entry.id);
  const [choices, setChoices] = useState<readonly Choice[]>(() => entry.questions.map(() => ({ labels: [], own: "" })));
  const answers = choices.map((choice) => [...choice.labels, ...(choice.own.trim() ? [choice.own.trim()] : [])]);
  const complete = answers.every((labels) => labels.length > 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const words = answers.map((labels) => labels.join(", ")).join("; ");
    if (complete) void answer(() => client.replyQuestion(sessionId, entry.questionId, { answers }), words);
  };
  const reject = () => answer(() => client.rejectQuestion(sessionId, entry.questionId), "Do not answer");
  return (
    <section className="sa-card sa-asks" role="group" aria-label="Question">
      <header>
        <Icon name="question" />
        <strong>{entry.questions.length > 1 ? `${entry.questions.length} questions` : "Question"}</strong>
      </header>
      <form onSubmit={submit}>
        {entry.questions.map((question, index) => (
          <OneQuestion
            key={index}
            name={`${entry.questionId}.${index}`}
            question={question}
            choice={choices[index] ?? { labels: [], own: "" }}
            disabled={busy}
            onChange={(choice) => setChoices(choices.map((old, at) => (at === index ? choice : old)))}
          />
        ))}
        <div className="sa-card-actions">
          <Button type="submit" look="primary" disabled={busy || !complete}>
            Answer
          </Button>
          <Button look="quiet" disabled={busy} onClick={reject}>
            Do not answer
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

interface OneQuestionProps {
  name: string;
  question: AskedQuestion;
  choice: Choice;
  disabled: boolean;
  onChange: (choice: Choice) => void;
}

function OneQuestion({ name, question, choice, disabled, onChange }: OneQuestionProps) {
  const several = question.multi_select ?? false;
  const toggle = (label: string) => {
    if (!several) return onChange({ labels: [label], own: "" });
    const without = choice.labels.filter((chosen) => chosen !== label);
    return onChange({ ...choice, labels: without.length < choice.labels.length ? without : [...choice.labels, label] });
  };
  return (
    <fieldset className="sa-question" disabled={disabled}>
      <legend dir="auto">
        {question.header && question.header !== question.question && <span className="sa-tag">{question.header}</span>}{" "}
        {question.question}
        {several && <span className="sa-faint"> (choose any)</span>}
      </legend>
      {question.options.map((option) => (
        <label key={option.label} className="sa-option">
          <input
            type={several ? "checkbox" : "radio"}
            name={name}
            checked={choice.labels.includes(option.label)}
            onChange={() => toggle(option.label)}
          />
          <span>
            {option.label} {option.description && <small>{option.description}</small>}
          </span>
        </label>
      ))}
      <input
        className="sa-own-answer"
        aria-label={`Your own answer: ${question.question}`}
        placeholder={question.options.length > 0 ? "Or in your own words" : "Your answer"}
        value={choice.own}
        onChange={(event) => onChange({ labels: several ? choice.labels : [], own: event.target.value })}
      />
    </fieldset>
  );
}
