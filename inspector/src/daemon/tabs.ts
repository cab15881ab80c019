/**
 * Shares a token with other tabs of this page, so that a link to a session works at once in a new tab.
 *
 * The browser delivers these messages only to pages of the same origin, and nothing is stored. A tab gives its token
 * only to a tab that asks for the endpoint the token belongs to.
 */
import type { Address } from "./daemon";

const CHANNEL = "sandbox-agent.tabs";
const PATIENCE_MS = 400;

interface Message {
  readonly kind: "ask" | "tell";
  readonly endpoint: string;
  readonly token?: string | null;
}

/** Answers other tabs until the returned function is called. */
export function shareToken({ endpoint, token }: Address): () => void {
  if (token === null) return () => undefined;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask" && data.endpoint === endpoint) channel.postMessage({ kind: "tell", endpoint, token } satisfies Message);
  };
  return () => channel.close();
}

/** The token of a tab that is connected to the endpoint; null if there is none. */
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
