/** Why a message was refused. If the agent's conversation is gone, the session can start a new one. */
import { Conflict, DaemonUnreachable } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { sayWhy } from "../state/words.js";

export function NotSent({ why, onFresh }: { why: unknown; onFresh: () => void }) {
  return (
    <div className="sa-not-sent" role="alert">
      <span className="sa-bad-text">
        {why instanceof DaemonUnreachable ? "Not sent: the daemon does not answer. Send it again when it is back." : sayWhy(why)}
      </span>
      {why instanceof Conflict && (
        <Button small onClick={onFresh}>
          Begin a new conversation with it
        </Button>
      )}
    </div>
  );
}
