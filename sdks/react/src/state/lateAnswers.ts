/** Answers from this page that came too late, by request. Kept here because the card is gone when the refusal arrives. */
import { Observable } from "./observable.js";

const KEPT = 200;

export class LateAnswers extends Observable<ReadonlyMap<string, string>> {
  #byRequest: ReadonlyMap<string, string> = new Map();

  get snapshot(): ReadonlyMap<string, string> {
    return this.#byRequest;
  }

  add(requestId: string, answer: string): void {
    this.#byRequest = new Map([...this.#byRequest, [requestId, answer] as const].slice(-KEPT));
    this.changed();
  }
}
