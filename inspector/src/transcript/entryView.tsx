/** One entry of the transcript, by its kind. */
import { memo } from "react";
import type { Entry } from "sdk/transcript";
import { ErrorCard, OddCard } from "./errorCard";
import { Message } from "./message";
import { PermissionCard } from "./permissionCard";
import { PlanCard } from "./planCard";
import { QuestionCard } from "./questionCard";
import { SessionEnd } from "./sessionEnd";
import { SessionStart } from "./sessionStart";
import { StatusLine } from "./statusLine";
import { Thinking } from "./thinking";
import { Tool } from "./tool";
import { TurnEnd } from "./turnEnd";

interface Props {
  entry: Entry;
  unfolded: boolean;
  onFold: (id: string) => void;
}

export const EntryView = memo(function EntryView({ entry, unfolded, onFold }: Props) {
  const fold = { unfolded, onFold: () => onFold(entry.id) };
  switch (entry.kind) {
    case "message":
      return <Message entry={entry} />;
    case "reasoning":
      return <Thinking entry={entry} {...fold} />;
    case "tool":
      return <Tool entry={entry} {...fold} />;
    case "permission":
      return <PermissionCard entry={entry} />;
    case "question":
      return entry.isPlan ? <PlanCard entry={entry} /> : <QuestionCard entry={entry} />;
    case "status":
      return <StatusLine entry={entry} {...fold} />;
    case "error":
      return <ErrorCard entry={entry} />;
    case "turn_ended":
      return <TurnEnd entry={entry} />;
    case "session_started":
      return <SessionStart entry={entry} />;
    case "session_ended":
      return <SessionEnd entry={entry} />;
    case "unparsed":
      return <OddCard title="The daemon could not read what the agent said" text={`${entry.location}: ${entry.error}`} />;
    case "unknown":
      return <OddCard title="The agent said something without a name here" data={entry.data} />;
    case "other":
      return <OddCard title={`An event of a type that this page does not know: ${entry.type}`} data={entry.data} />;
    case "turn_started":
      return null;
  }
});
