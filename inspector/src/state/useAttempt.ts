/** Runs actions that may be refused, and remembers why the last one was. */
import { useState } from "react";
import { sayWhy } from "chat/state/words";

/** Runs an action, and afterwards reads what it may have changed. */
export type Attempt = (action: () => Promise<unknown>) => Promise<void>;

export function useAttempt(reload: () => Promise<void>, explain: (error: unknown) => string = sayWhy) {
  const [problem, setProblem] = useState<string | null>(null);
  const attempt: Attempt = async (action) => {
    setProblem(null);
    try {
      await action();
    } catch (error) {
      setProblem(explain(error));
    }
    await reload();
  };
  return { problem, attempt };
}
