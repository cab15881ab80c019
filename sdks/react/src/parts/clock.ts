/** The time, for texts that grow old. One timer for all of them, while there are any. */
import { Observable, useObserved } from "../state/observable.js";

class Clock extends Observable<number> {
  #now = Date.now();

  get snapshot(): number {
    return this.#now;
  }

  protected override watched(): () => void {
    const tick = () => {
      this.#now = Date.now();
      this.changed();
    };
    const timer = setInterval(tick, 1000);
    this.#now = Date.now();
    return () => clearInterval(timer);
  }
}

const clock = new Clock();

/** The time in seconds' steps: what is drawn with it is drawn anew each second. */
export function useNow(): number {
  return useObserved(clock);
}
