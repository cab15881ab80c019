/** The messages that wait for the running turn. Each can be withdrawn, or all of them together with the turn. */
import { useEffect, useState } from "react";
import { Problem, type QueuedMessage, type Operations } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { stepOut } from "../parts/focus.js";
import { plural } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { useConversation } from "../session/sessionContext.js";
import { sayWhy } from "../state/words.js";

/** How long to wait before the messages are requested again. */
const AGAIN_MS = 2_000;

interface Props {
  queued: readonly string[];
  /** Stops the running turn, and says so if that is refused. */
  onStop: () => Promise<void>;
}

export function QueueList({ queued, onStop }: Props) {
  const { client, sessionId } = useConversation();
  const [messages, setMessages] = useState<readonly QueuedMessage[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  /** Why the messages could not be read. */
  const [unread, setUnread] = useState<string | null>(null);
  const key = queued.join(" ");
  // The transcript says which turns are queued; the daemon has their messages.
  useEffect(() => {
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (waiting: readonly QueuedMessage[], why: string | null) => {
      setMessages(waiting);
      setUnread(why);
    };
    const read = async () => {
      try {
        const waiting = await allWaiting(client, sessionId);
        if (current) show(waiting, null);
      } catch (error) {
        if (!current) return;
        setUnread(sayWhy(error));
        timer = setTimeout(read, AGAIN_MS);
      }
    };
    if (key) void read();
    else {
      show([], null);
      setFailure(null);
    }
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, sessionId, key]);

  const withdraw = async (turnId: string, button: Element) => {
    stepOut(button);
    setFailure(null);
    try {
      await client.withdrawMessage(sessionId, turnId);
    } catch (error) {
      setFailure(`Not withdrawn: ${sayWhy(error)}`);
    }
  };
  const stopAll = async (button: Element) => {
    stepOut(button);
    setFailure(null);
    try {
      // Messages first: the next one would start when the turn ends.
      await Promise.all(queued.map((turnId) => client.withdrawMessage(sessionId, turnId).catch(unlessStarted)));
    } catch (error) {
      return setFailure(`Not withdrawn: ${sayWhy(error)}`);
    }
    await onStop();
  };
  const waiting = messages.filter((message) => queued.includes(message.turnId));
  const why = failure ?? unread;
  if (queued.length === 0 || (waiting.length === 0 && !why)) return null;
  return (
    <section className="sa-queue" aria-label="Waiting messages">
      {waiting.map((message, index) => (
        <div key={message.turnId} className="sa-queued">
          <Icon name="clock" size={13} />
          <span className="sa-queued-at">{index === 0 ? "Next" : index + 1}</span>
          <span className="sa-queued-text" dir="auto">{message.message || "(files only)"}</span>
          <Button look="quiet" small onClick={({ currentTarget }) => withdraw(message.turnId, currentTarget)}>
            Withdraw
          </Button>
        </div>
      ))}
      <div className="sa-queue-end">
        <span className="sa-muted">{plural(queued.length, "message")} queued</span>
        <Button look="quiet" small icon="stop" onClick={({ currentTarget }) => stopAll(currentTarget)}>
          Stop and clear
        </Button>
      </div>
      {why && (
        <p className="sa-bad-text" role="alert">
          {why}
        </p>
      )}
    </section>
  );
}

/** A message that has started in the meantime is no longer queued: stop the turn it became. */
function unlessStarted(error: unknown): void {
  if (!(error instanceof Problem && (error.status === 404 || error.status === 409))) throw error;
}

export async function allWaiting(client: Operations, sessionId: string): Promise<QueuedMessage[]> {
  const messages: QueuedMessage[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await client.getQueue(sessionId, { cursor });
    messages.push(...page.messages);
    cursor = page.nextCursor;
  } while (cursor);
  return messages;
}
