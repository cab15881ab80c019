/** The title of the tab: how many sessions need attention, and which one is open. */
import { useEffect } from "react";
import type { SessionInfo } from "./daemon/types";

export function useTitle(sessions: readonly SessionInfo[], sessionId: string | null): void {
  const needy = sessions.filter(({ state }) => state === "requires_action").length;
  const name = sessionId === null ? "Inspector" : sessions.find((session) => session.sessionId === sessionId)?.title || sessionId;
  useEffect(() => {
    document.title = needy > 0 ? `(${needy}) needs you · ${name}` : name;
    return () => {
      document.title = "Inspector";
    };
  }, [needy, name]);
}
