/** The time, for texts that grow old. One timer for all of them. */
import { Value, useObserved } from "../state/observable.js";

const now = new Value(Date.now());
window.setInterval(() => now.set(Date.now()), 1000);

/** The time in seconds' steps: what is drawn with it is drawn anew each second. */
export function useNow(): number {
  return useObserved(now);
}
