/**
 * The transcript: only what is on the screen is drawn. It stays at the bottom while one is there; otherwise it stands
 * still and says that something new has come.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { plural } from "../parts/format";
import { Notice } from "../parts/notice";
import { useConversation } from "../session/sessionContext";
import type { ConversationView } from "../state/conversation";
import { EntryView } from "./entryView";
import { rowsOf } from "./rows";

/** How near to the end counts as being there. */
const NEAR = 60;

export function TranscriptView({ view, showAll }: { view: ConversationView; showAll: boolean }) {
  const { transcript, catchingUp, failure, count } = view;
  const conversation = useConversation();
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => rowsOf(transcript.entries, unfolded, showAll), [transcript.entries, unfolded, showAll]);
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const [seen, setSeen] = useState<number | null>(null);

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 44,
    getItemKey: (index) => rows[index]?.entry.id ?? index,
    overscan: 8,
    paddingStart: 20,
    paddingEnd: 24,
  });

  const onFold = useCallback((id: string) => {
    // Opening something is reading it: the page must not run away to the end.
    atEnd.current = false;
    setUnfolded((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);

  /** Find out whether the end is in sight. */
  const look = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    setSeen((before) => (atEnd.current ? null : (before ?? conversation.snapshot.count)));
  }, [conversation]);

  const height = virtual.getTotalSize();
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
    else look();
  }, [height, count, toEnd, look]);

  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const watch = new ResizeObserver(() => atEnd.current && toEnd());
    watch.observe(box);
    return () => watch.disconnect();
  }, [toEnd]);

  const fresh = seen === null ? 0 : count - seen;
  return (
    <div className="transcriptFrame">
      <div className="transcript" ref={scroller} onScroll={look} tabIndex={0} role="log" aria-label="Transcript" aria-live="off">
        <div className="transcriptRows" style={{ height }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={virtual.measureElement}
                className={`row kind-${row.entry.kind} ${row.depth > 0 ? "nested" : ""}`}
                style={{ transform: `translateY(${item.start}px)`, "--depth": row.depth } as React.CSSProperties}
              >
                <EntryView entry={row.entry} unfolded={unfolded.has(row.entry.id)} onFold={onFold} />
              </div>
            );
          })}
        </div>
      </div>
      {failure && (
        <div className="transcriptNotice">
          <Notice>{failure}</Notice>
          <Button small onClick={() => void conversation.catchUp()}>
            Try again
          </Button>
        </div>
      )}
      {catchingUp && count === 0 && <p className="transcriptLoading">Reading the events…</p>}
      {seen !== null && (
        <button
          type="button"
          className={fresh > 0 ? "newPill fresh" : "newPill"}
          onClick={() => {
            atEnd.current = true;
            setSeen(null);
            toEnd();
          }}
        >
          <Icon name="arrowDown" size={14} /> {fresh > 0 ? plural(fresh, "new event") : "To the end"}
        </button>
      )}
    </div>
  );
}
