/** A moment by which something must have happened, so that no wait lasts forever. */
import { DaemonNotStarted } from "./errors.js";

/** Measured by a monotonic clock: the time of day may jump. */
export class Deadline {
  readonly #end: number;

  constructor(readonly milliseconds: number) {
    this.#end = performance.now() + milliseconds;
  }

  /** Whole milliseconds until then; at least 1, because 0 means "no limit" to many programs. */
  get left(): number {
    return Math.max(1, Math.ceil(this.#end - performance.now()));
  }

  get hasPassed(): boolean {
    return performance.now() >= this.#end;
  }

  /**
   * The result of some work, or an error once the deadline has passed. A result that comes too late goes to `tooLate`:
   * a sandbox that nobody waits for any more must not keep costing money.
   */
  async wait<Result>(
    work: Promise<Result>,
    what: string,
    tooLate?: (result: Result) => Promise<unknown>,
  ): Promise<Result> {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let isLate = false;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(new DaemonNotStarted(`${what} took longer than ${this.milliseconds / 1000} s`));
      }, this.left);
    });
    work.then(
      (result) => (isLate ? tooLate?.(result)?.catch(() => {}) : undefined),
      () => {},
    );
    try {
      return await Promise.race([work, limit]);
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
  }
}
