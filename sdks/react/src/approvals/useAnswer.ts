/** Answers a permission or a question, once. Another client may be faster. */
import { useEffect, useState } from "react";
import { Conflict, DaemonUnreachable } from "sandbox-agentd";
import { stepOut } from "../parts/focus.js";
import { useConversation } from "../session/sessionContext.js";
import { useObserved } from "../state/observable.js";
import { sayWhy } from "../state/words.js";

export interface Answering {
  /** An answer is being sent or was accepted: the buttons are disabled. */
  readonly busy: boolean;
  readonly failure: string | null;
  /** `words` describe the answer, to be shown if it comes too late. */
  answer: (send: () => Promise<void>, words: string) => Promise<void>;
}

export function useAnswer(requestId: string): Answering {
  const { connection } = useConversation();
  const { opened } = useObserved(connection);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  // The daemon is back: the request can be answered now.
  useEffect(() => setFailure((before: unknown) => (before instanceof DaemonUnreachable ? null : before)), [opened]);
  const answer = async (send: () => Promise<void>, words: string) => {
    stepOut(document.activeElement?.closest(".sa-card"));
    setBusy(true);
    setFailure(null);
    try {
      await send();
    } catch (error) {
      if (isLate(error)) return connection.lateAnswers.add(requestId, words);
      setBusy(false);
      setFailure(error);
    }
  };
  return { busy, failure: failure === null ? null : sayWhy(failure), answer };
}

export function isLate(error: unknown): boolean {
  return error instanceof Conflict;
}
