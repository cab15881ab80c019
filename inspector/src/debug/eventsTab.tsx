/** Every event of the session, with filter, search and detail view. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Event } from "sandbox-agentd";
import { Button, IconButton } from "chat/parts/button";
import { clockMs, count, plural } from "chat/parts/format";
import { Icon } from "chat/parts/icon";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { EventDetail } from "./eventDetail";
import { eventText, matches } from "./eventText";
import { saveJsonl } from "./saveJsonl";

export function EventsTab({ sessionId, sequence }: { sessionId: string; sequence: number | null }) {
  const workspace = useWorkspace();
  const conversation = useMemo(() => workspace.conversation(sessionId), [workspace, sessionId]);
  const view = useObserved(conversation);
  const [type, setType] = useState("");
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<number | null>(sequence);
  const [saving, setSaving] = useState(false);
  useEffect(() => {
    if (sequence !== null) setChosen(sequence);
  }, [sequence]);

  const types = useMemo(() => [...new Set(view.events.map((event) => event.type))].sort(), [view.events, view.count]);
  const shown = useMemo(
    () => (type || words ? view.events.filter((event) => (!type || event.type === type) && matches(event, words)) : view.events),
    [view.events, view.count, type, words],
  );
  const event = chosen === null ? null : (view.events[chosen - 1] ?? null);

  const save = async () => {
    setSaving(true);
    try {
      await saveJsonl(workspace.client, sessionId);
    } finally {
      setSaving(false);
    }
  };

  return (
    <div className="eventsTab">
      <div className="debugTools">
        <div className="searchBox">
          <Icon name="search" size={14} />
          <input type="search" placeholder="Search events" aria-label="Search events" value={words} onChange={(change) => setWords(change.target.value)} />
          {words && <IconButton icon="close" size={12} label="Clear the search" onClick={() => setWords("")} />}
        </div>
        <select aria-label="Type of event" value={type} onChange={(change) => setType(change.target.value)}>
          <option value="">All types</option>
          {types.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <Button look="quiet" small icon="download" disabled={saving} onClick={save} title="All events with their native payloads, one JSON object per line">
          JSONL
        </Button>
      </div>
      <p className="debugCount">
        {shown.length === view.count ? plural(view.count, "event") : `${count(shown.length)} of ${plural(view.count, "event")}`}
      </p>
      <EventList events={shown} total={shown.length} chosen={chosen} onChoose={setChosen} />
      {event && <EventDetail key={event.sequence} sessionId={sessionId} event={event} onClose={() => setChosen(null)} />}
    </div>
  );
}

interface EventListProps {
  events: readonly Event[];
  /** The array grows in place: its length shows when. */
  total: number;
  chosen: number | null;
  onChoose: (sequence: number) => void;
}

function EventList({ events, total, chosen, onChoose }: EventListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const virtual = useVirtualizer({ count: total, getScrollElement: () => scroller.current, estimateSize: () => 26, overscan: 12 });
  useEffect(() => {
    const box = scroller.current;
    if (box && atEnd.current && chosen === null) box.scrollTop = box.scrollHeight;
  }, [total, chosen]);
  const at = useMemo(() => (chosen === null ? -1 : events.findIndex((event) => event.sequence === chosen)), [events, total, chosen]);
  // Scroll to a linked event only once it has been loaded, and only once: later events must not scroll the list back.
  const latest = useRef(at);
  latest.current = at;
  const isThere = at >= 0;
  useEffect(() => {
    if (isThere) virtual.scrollToIndex(latest.current, { align: "auto" });
  }, [chosen, isThere, virtual]);
  const onScroll = () => {
    const box = scroller.current;
    if (box) atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  };
  return (
    <div className="eventList" ref={scroller} onScroll={onScroll} tabIndex={0} role="region" aria-label="Events">
      <div style={{ height: virtual.getTotalSize() }} className="eventRows">
        {virtual.getVirtualItems().map((item) => {
          const event = events[item.index];
          if (!event) return null;
          return (
            <button
              key={event.sequence}
              type="button"
              className={`eventRow ${event.synthetic ? "synthetic" : ""}`}
              aria-pressed={event.sequence === chosen}
              style={{ transform: `translateY(${item.start}px)` }}
              onClick={() => onChoose(event.sequence)}
            >
              <span className="eventSequence">{event.sequence}</span>
              <span className="eventTime">{clockMs(event.time)}</span>
              <span className={`eventType ${event.type.split(".")[0]}`}>{event.type}</span>
              <span className="eventText">{eventText(event)}</span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
