/** The current time, for relative times. One shared timer runs while any of them is shown. */
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

/** The time in whole seconds: components that use it render every second. */
export function useNow(): number {
  return useObserved(clock);
}
