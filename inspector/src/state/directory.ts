/** The directory of a session; undefined without a session. */
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "./workspace";

export function useDirectory(sessionId: string | null): string | undefined {
  const sessions = useObserved(useWorkspace().sessions);
  return sessions.find((session) => session.sessionId === sessionId)?.directory;
}
