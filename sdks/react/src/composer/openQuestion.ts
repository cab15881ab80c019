/**
 * The question that the typed text would answer.
 *
 * Text typed before the question appeared is not an answer: someone who was writing the next message has not read the
 * question yet. It becomes an answer with the next change.
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
