/** The title of the tab: how many sessions need attention, and which one is open. */
import { useEffect } from "react";
import type { SessionInfo } from "sandbox-agentd";
import { useSessionName } from "./sessions/useSessionName";

export function useTitle(sessions: readonly SessionInfo[], sessionId: string | null): void {
  const needy = sessions.filter(({ state }) => state === "requires_action").length;
  const open = sessions.find((session) => session.sessionId === sessionId) ?? null;
  const name = useSessionName(open) ?? sessionId ?? "Inspector";
  useEffect(() => {
    document.title = needy > 0 ? `(${needy}) needs you · ${name}` : name;
    return () => {
      document.title = "Inspector";
    };
  }, [needy, name]);
}
