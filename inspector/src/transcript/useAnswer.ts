/** Answers a permission or a question, once; somebody else may be quicker. */
import { useState } from "react";
import { Refused, sayWhy } from "../daemon/problem";
import { useWorkspace } from "../state/workspace";

export interface Answering {
  /** An answer is under way, or was taken: there is nothing more to press. */
  readonly busy: boolean;
  readonly mine: boolean;
  readonly failure: string | null;
  answer: (path: string, body: unknown) => Promise<void>;
}

export function useAnswer(): Answering {
  const { daemon } = useWorkspace();
  const [state, setState] = useState({ busy: false, mine: false, failure: null as string | null });
  const answer = async (path: string, body: unknown) => {
    setState({ busy: true, mine: false, failure: null });
    try {
      await daemon.post(path, body);
      setState({ busy: true, mine: true, failure: null });
    } catch (error) {
      const late = error instanceof Refused && error.type === "conflict";
      setState({ busy: late, mine: false, failure: late ? "Somebody else has answered." : sayWhy(error) });
    }
  };
  return { ...state, answer };
}
