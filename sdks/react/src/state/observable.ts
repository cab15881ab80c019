/** Something that changes and can be watched: the page's whole state is made of these. */
import { useSyncExternalStore } from "react";

export abstract class Observable<Snapshot> {
  #listeners = new Set<() => void>();

  /** What it is now; the same object until it changes. */
  abstract get snapshot(): Snapshot;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

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
