/** Says that an answer from this page was refused, because another client had already answered. */
import { useConversation } from "../session/sessionContext.js";
import { useObserved } from "../state/observable.js";

export function TooLate({ requestId }: { requestId: string }) {
  const answer = useObserved(useConversation().connection.lateAnswers).get(requestId);
  if (answer === undefined) return null;
  return (
    <span className="sa-too-late" role="status">
      Somebody else answered first. Your answer “{answer}” was not taken.
    </span>
  );
}
