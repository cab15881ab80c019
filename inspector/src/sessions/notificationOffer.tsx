/** Asks once whether to show a notification when a session needs attention. */
import { Button } from "chat/parts/button";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";

export function NotificationOffer() {
  const { attention } = useWorkspace();
  const { isOffered } = useObserved(attention);
  if (!isOffered) return null;
  return (
    <div className="notificationOffer" role="note">
      <p>Notify you when a session needs you and this page is hidden?</p>
      <Button small onClick={() => void attention.accept()}>
        Notify me
      </Button>
      <Button small look="quiet" onClick={() => attention.decline()}>
        No thanks
      </Button>
    </div>
  );
}
