/** One pass over a turn: its signal, its timers, and the work done at the same time. */
import { TurnError } from "./errors.js";

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
    const timer = setTimeout(() => this.meanwhile(Promise.resolve(then())), Math.max(0, milliseconds));
    this.#timers.add(timer);
  }

  meanwhile(work: Promise<void>): void {
    this.#answers.push(work.catch((error: unknown) => this.stop(error)));
  }

  /** Like `meanwhile`, but the reading may end before the work does. */
  beside(work: Promise<void>): void {
    work.catch((error: unknown) => this.stop(error));
  }

  /** Wait for the work beside the stream, and throw its errors. A limit that has just run out is not one of them. */
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
