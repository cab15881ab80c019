/** Steps through earlier messages with the arrow keys, as in a shell. */
import { useState } from "react";
import { history } from "./memory.js";

export interface Recall {
  /** An earlier message is shown, and was not changed. */
  readonly isActive: boolean;
  step: (by: number) => void;
  /** From here on it is a message of its own: arrow keys move the cursor, and no longer replace the text. */
  end: () => void;
}

export function useRecall(write: (text: string) => void): Recall {
  const [at, setAt] = useState<number | null>(null);
  const step = (by: number) => {
    const next = (at ?? history.length) + by;
    if (next < 0 || next > history.length) return;
    setAt(next === history.length ? null : next);
    write(history.at(next));
  };
  return { isActive: at !== null, step, end: () => setAt(null) };
}
