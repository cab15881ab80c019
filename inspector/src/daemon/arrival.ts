/**
 * What the page was opened with: a token or an address in the URL, and what this tab remembers.
 *
 * A token is sent only to the address it belongs to: the one in the fragment to the daemon that served this page, a
 * remembered one to the address it was stored with. An address from the URL is only a suggestion.
 */
import type { Address } from "./daemon";

const KEY = "sandbox-agent.address";
export const DEFAULT_ENDPOINT = "http://127.0.0.1:2468";

export interface Arrival {
  /** Connect to it without asking. */
  readonly known: Address;
  /** An address from the link: shown to the user, and used only once they confirm it. */
  readonly suggested: Address | null;
}

export function arrive(): Arrival {
  const here: Address = { endpoint: window.location.origin, token: null };
  const brought = takeFragment();
  // Pasting an address with a new fragment into a tab that already shows the page does not reload it.
  window.addEventListener("hashchange", () => isBrought() && window.location.reload());
  const remembered = read();
  if (brought?.endpoint && brought.endpoint !== here.endpoint) {
    return { known: remembered ?? here, suggested: { endpoint: brought.endpoint, token: brought.token } };
  }
  if (brought?.token) return { known: { ...here, token: brought.token }, suggested: null };
  return { known: remembered ?? here, suggested: null };
}

function isBrought(): boolean {
  const given = new URLSearchParams(window.location.hash.slice(1));
  return given.has("endpoint") || given.has("token");
}

/** Removes `#token=…` and `#endpoint=…` from the address bar and the history at once. */
function takeFragment(): { endpoint: string | null; token: string | null } | null {
  if (!isBrought()) return null;
  const given = new URLSearchParams(window.location.hash.slice(1));
  const endpoint = given.get("endpoint");
  const token = given.get("token");
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return { endpoint: endpoint && tidied(endpoint), token };
}

/** Normalizes what people type to an endpoint: with a scheme, without a path. */
export function tidied(typed: string): string {
  const text = typed.trim();
  const url = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  return url.replace(/\/+(ui\/?.*|v1\/?.*)?$/, "");
}

function read(): Address | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Address | null;
    return stored && typeof stored.endpoint === "string" ? stored : null;
  } catch {
    return null;
  }
}

export function remember(address: Address): void {
  sessionStorage.setItem(KEY, JSON.stringify(address));
}

export function forget(): void {
  sessionStorage.removeItem(KEY);
}
