/** What was refused, and why. If a message was refused because the agent's conversation is gone, the session can start a new one. */
import { Conflict, DaemonUnreachable } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { sayWhy } from "../state/words.js";

/** Whether a limit of the session refused the message: a new conversation would be refused too. */
export function isLimit(why: unknown): boolean {
  return why instanceof Conflict && why.facts.limit !== undefined;
}

/** What the composer was asked to do. */
export type ComposerAction = "send" | "stop" | "switch";

export interface Failure {
  readonly action: ComposerAction;
  readonly why: unknown;
  /** How often the stream had been opened by then. */
  readonly opened: number;
}

/** What to say of anything but a message. */
const NOT_DONE: Readonly<Record<Exclude<ComposerAction, "send">, string>> = {
  stop: "Not stopped",
  switch: "Permission mode not changed",
};

export function Refused({ failure: { action, why }, onFresh }: { failure: Failure; onFresh: () => void }) {
  if (action === "send") return <NotSent why={why} onFresh={onFresh} />;
  return (
    <p className="sa-bad-text" role="alert">
      {NOT_DONE[action]}: {sayWhy(why)}
    </p>
  );
}

function NotSent({ why, onFresh }: { why: unknown; onFresh: () => void }) {
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
