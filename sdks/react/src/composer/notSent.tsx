/** Why a message was refused. If the agent's conversation is gone, the session can start a new one. */
import { Conflict, DaemonUnreachable } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { sayWhy } from "../state/words.js";

/** Whether a limit of the session refused the message: a new conversation would be refused too. */
export function isLimit(why: unknown): boolean {
  return why instanceof Conflict && why.facts.limit !== undefined;
}

export function NotSent({ why, onFresh }: { why: unknown; onFresh: () => void }) {
  return (
    <div className="sa-not-sent" role="alert">
      <span className="sa-bad-text">
        {why instanceof DaemonUnreachable ? "Not sent: the daemon does not answer. Send it again when it is back." : sayWhy(why)}
      </span>
      {why instanceof Conflict && !isLimit(why) && (
        <Button small onClick={onFresh}>
          Start a new conversation with it
        </Button>
      )}
    </div>
  );
}
