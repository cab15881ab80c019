/** The location in the page: a session, and possibly one of its events. Stored in the fragment, so any server can serve the page. */
import { Observable, useObserved } from "chat/state/observable";

export interface Route {
  readonly sessionId: string | null;
  /** The event that a link points to. */
  readonly sequence: number | null;
}

class Location extends Observable<Route> {
  #route = parsed(window.location.hash);

  constructor() {
    super();
    window.addEventListener("hashchange", () => {
      this.#route = parsed(window.location.hash);
      this.changed();
    });
  }

  get snapshot(): Route {
    return this.#route;
  }
}

const location = new Location();

export function useRoute(): Route {
  return useObserved(location);
}

export function go(sessionId: string | null): void {
  window.location.hash = sessionId === null ? "#/" : fragment(sessionId);
}

export function linkTo(sessionId: string, sequence: number): string {
  return `${window.location.origin}${window.location.pathname}${fragment(sessionId)}/events/${sequence}`;
}

export function fragment(sessionId: string): string {
  return `#/sessions/${encodeURIComponent(sessionId)}`;
}

export function parsed(hash: string): Route {
  const found = /^#\/sessions\/([^/]+)(?:\/events\/(\d+))?$/.exec(hash);
  if (!found?.[1]) return { sessionId: null, sequence: null };
  return { sessionId: decoded(found[1]), sequence: found[2] ? Number(found[2]) : null };
}

/** A link cut off inside an escape names no session; show that instead of a blank page. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
