/** The conversation that a component belongs to, for the cards inside it. */
import { createContext, useContext } from "react";
import type { Conversation } from "../state/conversation.js";

export const SessionContext = createContext<Conversation | null>(null);

export function useConversation(): Conversation {
  const conversation = useContext(SessionContext);
  if (!conversation) throw new Error("this component must be inside a <Transcript>, a <Composer> or an <Approvals>");
  return conversation;
}

/** The directory in which the agent works. */
export function useDirectory(): string | null {
  return useConversation().snapshot.transcript.metadata?.directory ?? null;
}
