/** Whether the page is live. */
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";

const WORDS = { connecting: "Connecting", "catching up": "Catching up", live: "Live", offline: "Offline" } as const;

export function LinkBadge({ onClick }: { onClick: () => void }) {
  const link = useObserved(useWorkspace().connection);
  return (
    <button type="button" className={`linkBadge ${link.state.replace(" ", "-")}`} onClick={onClick} title={link.why ?? undefined}>
      <span role="status">{WORDS[link.state]}</span>
    </button>
  );
}
