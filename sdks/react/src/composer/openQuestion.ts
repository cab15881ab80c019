/**
 * The question that what is written would answer.
 *
 * Not with words that were there before the question was: whoever writes the next message when a question comes up has
 * not read it yet. From the next change on they are an answer.
 */
import { useEffect, useState } from "react";
import type { QuestionEntry, Transcript } from "sandbox-agentd";

export function useOpenQuestion({ pending }: Transcript, text: string): QuestionEntry | null {
  const question = pending.find((entry) => entry.kind === "question") ?? null;
  const [before, setBefore] = useState<{ id: string | null; text: string }>({ id: null, text: "" });
  const id = question?.id ?? null;
  useEffect(() => {
    setBefore((old) => (old.id === id ? old : { id, text }));
  }, [id, text]);
  const isOlder = text !== "" && (before.id !== id || before.text === text);
  return isOlder ? null : question;
}
