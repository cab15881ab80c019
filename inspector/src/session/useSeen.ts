/** Marks the open session as seen while the page is visible. */
import { useEffect } from "react";
import type { SessionInfo } from "sandbox-agentd";
import type { Conversation } from "chat/state/conversation";
import { useWorkspace } from "../state/workspace";

export function useSeen(conversation: Conversation, info: SessionInfo | null): void {
  const { seen } = useWorkspace();
  const reported = info?.eventCount ?? 0;
  useEffect(() => {
    const look = () => {
      if (!document.hidden) seen.mark(conversation.sessionId, Math.max(reported, conversation.snapshot.count));
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      look();
    };
  }, [seen, conversation, reported]);
}
