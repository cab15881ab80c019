/** A value that can be observed. All state that is shown consists of these. */
import { useSyncExternalStore } from "react";

export abstract class Observable<Snapshot> {
  #listeners = new Set<() => void>();
  #unwatched: (() => void) | undefined;

  /** The current value; the same object until it changes. */
  abstract get snapshot(): Snapshot;

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe = (listener: () => void): (() => void) => {
    if (!this.isWatched) this.#unwatched = this.watched() ?? undefined;
    this.#listeners.add(listener);
    return () => {
      if (!this.#listeners.delete(listener) || this.isWatched) return;
      this.#unwatched?.();
    };
  };

  /** Called when the first observer subscribes; the function it returns is called when the last one leaves. */
  protected watched(): (() => void) | void {}

  protected changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** A value that is simply replaced. */
export class Value<T> extends Observable<T> {
  #value: T;

  constructor(value: T) {
    super();
    this.#value = value;
  }

  get snapshot(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.changed();
  }
}

export function useObserved<Snapshot>(observable: Observable<Snapshot>): Snapshot {
  const read = () => observable.snapshot;
  return useSyncExternalStore(observable.subscribe, read, read);
}
