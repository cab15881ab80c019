/** The conversation that is on the screen, for the cards in it. */
import { createContext, useContext } from "react";
import type { Conversation } from "../state/conversation.js";

export const SessionContext = createContext<Conversation | null>(null);

export function useConversation(): Conversation {
  const conversation = useContext(SessionContext);
  if (!conversation) throw new Error("there is no session here");
  return conversation;
}
