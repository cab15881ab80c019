/** The messages that wait for the running turn to end; each can be withdrawn, and all of them together with the turn. */
import { useEffect, useState } from "react";
import { type Daemon, sessionPath } from "inspector/daemon/daemon";
import { Refused, sayWhy } from "inspector/daemon/problem";
import type { Queue, QueuedMessage } from "inspector/daemon/types";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { useWorkspace } from "inspector/state/workspace";

export function QueueList({ sessionId, queued }: { sessionId: string; queued: readonly string[] }) {
  const { daemon } = useWorkspace();
  const [messages, setMessages] = useState<readonly QueuedMessage[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const key = queued.join(" ");
  // The transcript tells which turns wait; the daemon tells what they say.
  useEffect(() => {
    let current = true;
    if (!key) return setMessages([]);
    allWaiting(daemon, sessionId)
      .then((waiting) => current && setMessages(waiting))
      .catch((error: unknown) => current && setFailure(sayWhy(error)));
    return () => {
      current = false;
    };
  }, [daemon, sessionId, key]);

  const withdraw = async (turnId: string) => {
    setFailure(null);
    try {
      await daemon.delete(sessionPath(sessionId, "queue", turnId));
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };
  const stopAll = async () => {
    setFailure(null);
    try {
      // The messages first: the next of them would start when the turn ends.
      await Promise.all(queued.map((turnId) => daemon.delete(sessionPath(sessionId, "queue", turnId)).catch(unlessStarted)));
      await daemon.post(sessionPath(sessionId, "cancel"));
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };
  const waiting = messages.filter((message) => queued.includes(message.turnId));
  if (waiting.length === 0) return null;
  return (
    <section className="queue" aria-label="Waiting messages">
      {waiting.map((message, index) => (
        <div key={message.turnId} className="queued">
          <Icon name="clock" size={13} />
          <span className="queuedAt">{index === 0 ? "Next" : index + 1}</span>
          <span className="queuedText" dir="auto">{message.message || "(files only)"}</span>
          <Button look="quiet" small onClick={() => withdraw(message.turnId)}>
            Withdraw
          </Button>
        </div>
      ))}
      <div className="queueEnd">
        <span className="muted">{waiting.length === 1 ? "1 message waits" : `${waiting.length} messages wait`}</span>
        <Button look="quiet" small icon="stop" onClick={stopAll}>
          Stop and clear
        </Button>
      </div>
      {failure && (
        <p className="badText" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}

/** A message that started meanwhile waits no more: the turn that it became is the one to stop. */
function unlessStarted(error: unknown): void {
  if (!(error instanceof Refused && (error.status === 404 || error.status === 409))) throw error;
}

export async function allWaiting(daemon: Daemon, sessionId: string): Promise<QueuedMessage[]> {
  const messages: QueuedMessage[] = [];
  let cursor: string | null | undefined;
  do {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : "";
    const page: Queue = await daemon.get(sessionPath(sessionId, "queue") + query);
    messages.push(...page.messages);
    cursor = page.nextCursor;
  } while (cursor);
  return messages;
}
