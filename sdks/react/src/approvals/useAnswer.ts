/** Answers a permission or a question, once; somebody else may be quicker. */
import { useState } from "react";
import { Refused, sayWhy } from "inspector/daemon/problem";
import { useWorkspace } from "inspector/state/workspace";

export interface Answering {
  /** An answer is under way, or was taken: there is nothing more to press. */
  readonly busy: boolean;
  readonly failure: string | null;
  /** `words` are what the answer says, for the one who comes too late. */
  answer: (path: string, body: unknown, words: string) => Promise<void>;
}

export function useAnswer(requestId: string): Answering {
  const { daemon, lateAnswers } = useWorkspace();
  const [state, setState] = useState({ busy: false, failure: null as string | null });
  const answer = async (path: string, body: unknown, words: string) => {
    setState({ busy: true, failure: null });
    try {
      await daemon.post(path, body);
    } catch (error) {
      if (!isLate(error)) return setState({ busy: false, failure: sayWhy(error) });
      lateAnswers.add(requestId, words);
    }
  };
  return { ...state, answer };
}

export function isLate(error: unknown): boolean {
  return error instanceof Refused && error.type === "conflict";
}
