/** One pass over a turn: its signal, its timers, and the work done at the same time. */
import { TurnError } from "./errors.js";

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Reading {
  readonly #control = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #answers: Promise<void>[] = [];
  readonly #pass = (): void => this.#control.abort(this.#outer?.reason);

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.#pass();
    outer?.addEventListener("abort", this.#pass);
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  stop(reason: unknown): void {
    this.#control.abort(reason);
  }

  after(milliseconds: number, then: () => void | Promise<void>): void {
    const isTooLong = milliseconds > LONGEST_TIMER_MS;
    const work = isTooLong ? () => this.after(milliseconds - LONGEST_TIMER_MS, then) : then;
    const wait = Math.min(Math.max(0, milliseconds), LONGEST_TIMER_MS);
    this.#timers.add(setTimeout(() => this.track(Promise.resolve(work())), wait));
  }

  track(work: Promise<void>): void {
    this.#answers.push(work.catch((error: unknown) => this.stop(error)));
  }

  /** Like `track`, but the reading may end before the work does. */
  background(work: Promise<void>): void {
    work.catch((error: unknown) => this.stop(error));
  }

  /** Wait for the tracked work, and throw its errors. A limit that has just run out is not one of them. */
  async answered(): Promise<void> {
    await Promise.all(this.#answers);
    if (!(this.signal.reason instanceof TurnError)) this.signal.throwIfAborted();
  }

  async unlessStopped<Value>(promise: Promise<Value>): Promise<Value> {
    this.signal.throwIfAborted();
    const { signal } = this;
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      promise.then(resolve, reject);
    });
  }

  close(): void {
    this.#timers.forEach(clearTimeout);
    this.#outer?.removeEventListener("abort", this.#pass);
  }
}
