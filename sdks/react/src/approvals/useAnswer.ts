/** Answers a permission or a question, once. Another client may be faster. */
import { useState } from "react";
import { Conflict } from "sandbox-agentd";
import { stepOut } from "../parts/focus.js";
import { useConversation } from "../session/sessionContext.js";
import { sayWhy } from "../state/words.js";

export interface Answering {
  /** An answer is being sent or was accepted: the buttons are disabled. */
  readonly busy: boolean;
  readonly failure: string | null;
  /** `words` describe the answer, to be shown if it comes too late. */
  answer: (send: () => Promise<void>, words: string) => Promise<void>;
}

export function useAnswer(requestId: string): Answering {
  const { lateAnswers } = useConversation().connection;
  const [state, setState] = useState({ busy: false, failure: null as string | null });
  const answer = async (send: () => Promise<void>, words: string) => {
    stepOut(document.activeElement?.closest(".sa-card"));
    setState({ busy: true, failure: null });
    try {
      await send();
    } catch (error) {
      if (!isLate(error)) return setState({ busy: false, failure: sayWhy(error) });
      lateAnswers.add(requestId, words);
    }
  };
  return { ...state, answer };
}

export function isLate(error: unknown): boolean {
  return error instanceof Conflict;
}
