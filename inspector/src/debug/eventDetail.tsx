/** One event, and beside it the native payload that caused it. */
import { useEffect, useState } from "react";
import type { Event } from "sandbox-agentd";
import { sayWhy } from "chat/state/words";
import { IconButton } from "chat/parts/button";
import { CodeText } from "chat/code/codeText";
import { CopyButton } from "chat/parts/copyButton";
import { pretty } from "chat/parts/format";
import { linkTo } from "../route";
import { useWorkspace } from "../state/workspace";

interface Props {
  sessionId: string;
  event: Event;
  onClose: () => void;
}

export function EventDetail({ sessionId, event, onClose }: Props) {
  const { raw: _, ...universal } = event;
  const native = useNative(sessionId, event.sequence);
  return (
    <section className="eventDetail" aria-label={`Event ${event.sequence}`}>
      <header>
        <strong>#{event.sequence}</strong>
        <span className="sa-mono">{event.type}</span>
        <span className="sa-grow" />
        <CopyButton words text={() => linkTo(sessionId, event.sequence)} label="Link" />
        <IconButton icon="close" label="Close the event" onClick={onClose} />
      </header>
      <div className="eventHalves">
        <Half title="Universal" text={pretty(universal)} />
        <Half title="Native" text={native} />
      </div>
    </section>
  );
}

function Half({ title, text }: { title: string; text: string }) {
  return (
    <div className="eventHalf">
      <header>
        <h3>{title}</h3>
        <CopyButton text={text} label={`Copy the ${title.toLowerCase()} payload`} />
      </header>
      <pre tabIndex={0} aria-label={title}>
        <CodeText text={text} language="json" />
      </pre>
    </div>
  );
}

/** The stream leaves out native payloads; one is fetched when it is opened. */
function useNative(sessionId: string, sequence: number): string {
  const { client } = useWorkspace();
  const [text, setText] = useState("…");
  useEffect(() => {
    let current = true;
    client
      .getEvents(sessionId, { offset: sequence - 1, limit: 1, includeRaw: true })
      .then(({ events }) => current && setText(shown(events[0]?.raw)))
      .catch((error: unknown) => current && setText(sayWhy(error)));
    return () => {
      current = false;
    };
  }, [client, sessionId, sequence]);
  return text;
}

function shown(raw: unknown): string {
  if (raw === null || raw === undefined) return "None: this event comes from the daemon.";
  return typeof raw === "string" ? raw : pretty(raw);
}
