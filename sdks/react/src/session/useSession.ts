/** A session for React: its live state, and what can be done with it. */
import { useMemo } from "react";
import type { Message, Operations, SentMessage, SessionInfo, Transcript } from "sandbox-agentd";
import { connectionOf, type Link } from "../state/connection.js";
import { Conversation, type ConversationView } from "../state/conversation.js";
import { Observable, useObserved } from "../state/observable.js";

export interface ChatSession {
  readonly id: string;
  readonly client: Operations;
  /** Messages, tool calls, requests and totals: the result of `foldTranscript` for the events so far. */
  readonly transcript: Transcript;
  /** Agent, settings, usage; null until the daemon has answered. */
  readonly info: SessionInfo | null;
  readonly state: SessionInfo["state"];
  /** Whether the state shown is up to date. */
  readonly connection: Link["state"];
  /** The daemon has no such session. */
  readonly isGone: boolean;
  /** Why the events could not be read. */
  readonly failure: string | null;
  /** Send a message; while a turn runs, it waits in the queue. */
  readonly send: (message: string | Message) => Promise<SentMessage>;
  /** End the turn that is shown as running, and no other. */
  readonly cancel: () => Promise<void>;
  /** @internal */
  readonly conversation: Conversation;
}

/** The session with this id, kept up to date while it is shown. All sessions of a client share one connection. */
export function useSession(client: Operations, sessionId: string): ChatSession;
/** Without an id there is no session yet. */
export function useSession(client: Operations, sessionId: string | null | undefined): ChatSession | null;
export function useSession(client: Operations, sessionId: string | null | undefined): ChatSession | null {
  const conversation = useMemo(() => (sessionId ? connectionOf(client).conversation(sessionId) : null), [client, sessionId]);
  return useChat(conversation);
}

/** The state and actions of a conversation, as components use them. */
export function useChat(conversation: Conversation): ChatSession;
export function useChat(conversation: Conversation | null): ChatSession | null;
export function useChat(conversation: Conversation | null): ChatSession | null {
  const view = useObserved<ConversationView | null>(conversation ?? NOTHING);
  const link = useObserved<Link | null>(conversation?.connection ?? NOTHING);
  return useMemo(() => {
    if (!conversation || !view || !link) return null;
    const { client, sessionId } = conversation;
    const { turnId } = view.transcript;
    return {
      id: sessionId,
      client,
      transcript: view.transcript,
      info: view.info,
      state: view.info?.state ?? view.transcript.state,
      connection: link.state,
      isGone: view.isGone,
      failure: view.failure,
      send: async (message) => {
        const text = typeof message === "string" ? message : message.message;
        return conversation.connection.ownTurns.during(text, () => client.sendMessage(sessionId, message));
      },
      // The turn that is shown: by the time the request arrives, it may be over and the next one running.
      cancel: () => client.cancelSession(sessionId, turnId === null ? {} : { turnId }),
      conversation,
    };
  }, [conversation, view, link]);
}

class Nothing extends Observable<null> {
  get snapshot(): null {
    return null;
  }
}

const NOTHING = new Nothing();
