/**
 * A token that one tab has, for another tab of this page: a link to a session, opened in a new tab, works at once.
 *
 * The browser delivers these messages to pages of the same origin alone, and nothing is written down. A tab tells its
 * token only to one that asks for the very endpoint that the token belongs to.
 */
import type { Address } from "./daemon";

const CHANNEL = "sandbox-agent.tabs";
const PATIENCE_MS = 400;

interface Message {
  readonly kind: "ask" | "tell";
  readonly endpoint: string;
  readonly token?: string | null;
}

/** Answer other tabs, until the returned function is called. */
export function shareToken({ endpoint, token }: Address): () => void {
  if (token === null) return () => undefined;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask" && data.endpoint === endpoint) channel.postMessage({ kind: "tell", endpoint, token } satisfies Message);
  };
  return () => channel.close();
}

/** The token of a tab that is connected to the endpoint; null when there is none. */
export function tokenOfAnotherTab(endpoint: string): Promise<string | null> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const end = (token: string | null) => {
      clearTimeout(timer);
      channel.close();
      resolve(token);
    };
    const timer = window.setTimeout(() => end(null), PATIENCE_MS);
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind === "tell" && data.endpoint === endpoint && data.token) end(data.token);
    };
    channel.postMessage({ kind: "ask", endpoint } satisfies Message);
  });
}
