/** What a session is called. */
import { type RefObject, useEffect, useSyncExternalStore } from "react";
import type { SessionInfo } from "sandbox-agentd";
import { useWorkspace } from "../state/workspace";

/** The name of a session, or null without one. An unknown name is found out; with `shown`, once that is in view. */
export function useSessionName(session: SessionInfo | null, shown?: RefObject<Element | null>): string | null {
  const { names } = useWorkspace();
  const name = useSyncExternalStore(names.subscribe, () => session && names.of(session));
  useEffect(() => {
    if (!session || session.title) return;
    const find = () => void names.find(session);
    if (!shown?.current) return find();
    const observer = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && find());
    observer.observe(shown.current);
    return () => observer.disconnect();
  }, [names, session, shown]);
  return name;
}
