/**
 * The transcript. Only visible rows are rendered. It sticks to the end while the reader is there, but keeps an opened
 * entry in view; otherwise it does not scroll, says that there is something new, and offers a button to jump to the end.
 */
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Boundary } from "../parts/boundary.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { plural } from "../parts/format.js";
import { Notice } from "../parts/notice.js";
import { SessionContext } from "../session/sessionContext.js";
import type { ChatSession } from "../session/useSession.js";
import type { Conversation } from "../state/conversation.js";
import { useObserved } from "../state/observable.js";
import { EntryView } from "./entryView.js";
import { OddCard } from "./errorCard.js";
import { asks, type Row, Rows } from "./rows.js";
import { mark } from "./search.js";
import { SearchBar } from "./searchBar.js";
import { useTranscriptSearch } from "./useTranscriptSearch.js";

/** How close to the end counts as being there. */
const NEAR = 60;
/** How far the end must be before a button over the text is worthwhile, relative to the visible height. */
const FAR = 1 / 3;

export interface TranscriptProps {
  session: ChatSession;
  /** Also show statuses that agents send for programs. */
  showAll?: boolean;
  /** Whether the search is open. */
  searching?: boolean;
  /** Called when the search should close. */
  onSearch?: (open: boolean) => void;
  className?: string;
}

/** The live conversation. Give it a height, or put it into a flex column: it scrolls by itself. */
export function Transcript({ session, className = "", ...rest }: TranscriptProps) {
  return (
    <SessionContext.Provider value={session.conversation}>
      <div className={`sandbox-agent sa-transcript-frame ${className}`}>
        <Scrolled key={session.id} conversation={session.conversation} {...rest} />
      </div>
    </SessionContext.Provider>
  );
}

interface Props extends Omit<TranscriptProps, "session" | "className"> {
  conversation: Conversation;
}

function Scrolled({ conversation, showAll = false, searching = false, onSearch = () => undefined }: Props) {
  const { transcript, catchingUp, failure, count, asksElsewhere } = useObserved(conversation);
  const late = useObserved(conversation.connection.lateAnswers);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const maker = useMemo(() => new Rows(), []);
  const rows = useMemo(
    () => maker.of(transcript.entries, { unfolded, showAll, asksElsewhere, apart: new Set(late.keys()) }),
    [maker, transcript.entries, unfolded, showAll, asksElsewhere, late],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const lastTop = useRef(0);
  const opened = useRef<string | null>(null);
  const [far, setFar] = useState(false);
  const [seen, setSeen] = useState<number | null>(null);

  // A pending card stays mounted while it is out of view: it holds what was filled in, and handles the keys that answer it.
  const asking = useMemo(() => rows.flatMap((row, index) => (asks(row.entry) ? [index] : [])), [rows]);
  const rangeExtractor = useCallback(
    (range: Range) => [...new Set([...defaultRangeExtractor(range), ...asking])].sort((a, b) => a - b),
    [asking],
  );

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimatedHeight(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 3,
    rangeExtractor,
    paddingStart: 20,
    paddingEnd: 24,
  });

  const onFold = useCallback((id: string) => {
    opened.current = id;
    setUnfolded((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);

  const search = useTranscriptSearch(transcript.entries, searching, (place) => {
    atEnd.current = false;
    setUnfolded((before) => new Set([...before, ...place.opens]));
  });
  // The row may exist only now that what contains it is open.
  const target = search.current?.key ?? null;
  const targetIndex = useMemo(() => (target === null ? -1 : rows.findIndex((row) => row.key === target)), [rows, target]);
  useEffect(() => {
    if (targetIndex >= 0) virtual.scrollToIndex(targetIndex, { align: "center" });
    // Only when the match changes: new output must not scroll the view back.
  }, [target, targetIndex >= 0, search.steps]);
  const drawn = virtual.getVirtualItems();
  useEffect(() => {
    if (scroller.current) mark(scroller.current, searching ? search.words : "", target);
  });

  /** Scroll to the end, but not past an opened entry, which is being read. */
  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const reading = virtual.getVirtualItems().find((item) => item.key === opened.current);
    const isInSight = reading && reading.start > box.scrollTop - 1;
    box.scrollTop = isInSight ? reading.start : box.scrollHeight;
  }, [virtual]);

  /** Check whether the end is visible, or soon will be because the reader stays there. */
  const look = useCallback((stays = false) => {
    const box = scroller.current;
    if (!box) return;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    atEnd.current = stays || below < NEAR;
    lastTop.current = box.scrollTop;
    setFar(below > box.clientHeight * FAR);
    setSeen((before) => (atEnd.current ? null : (before ?? conversation.snapshot.count)));
  }, [conversation]);

  /** A reader leaves the end by scrolling up. An event of an earlier scroll may also find text that has just grown. */
  const onScroll = useCallback(() => {
    const box = scroller.current;
    if (box) look(atEnd.current && box.scrollTop >= lastTop.current);
  }, [look]);

  const height = virtual.getTotalSize();
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
    look();
  }, [height, count, toEnd, look]);

  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const watch = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
      look();
    });
    watch.observe(box);
    return () => watch.disconnect();
  }, [toEnd, look]);

  const fresh = seen === null ? 0 : count - seen;
  return (
    <>
      {searching && <SearchBar {...search} onClose={() => onSearch(false)} />}
      <div className="sa-transcript" ref={scroller} onScroll={onScroll} tabIndex={0} role="log" aria-label="Transcript" aria-live="off">
        <div className="sa-transcript-rows" style={{ height }}>
          {drawn.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                data-index={item.index}
                data-key={row.key}
                ref={virtual.measureElement}
                className={`sa-row sa-kind-${row.entry.kind} ${row.depth > 0 ? "sa-nested" : ""} ${row.isTight ? "sa-tight" : ""} ${row.isFirst ? "" : "sa-continued"}`}
                style={{ transform: `translateY(${item.start}px)`, "--depth": row.depth } as CSSProperties}
              >
                <Boundary of={row.entry} instead={(why) => <OddCard title="This entry cannot be displayed; the session's events have it" text={why} />}>
                  <EntryView row={row} unfolded={unfolded.has(row.entry.id)} onFold={onFold} />
                </Boundary>
              </div>
            );
          })}
        </div>
      </div>
      {failure && (
        <div className="sa-transcript-notice">
          <Notice>{failure}</Notice>
          <Button small onClick={() => void conversation.catchUp()}>
            Try again
          </Button>
        </div>
      )}
      {catchingUp && count === 0 && <p className="sa-transcript-loading">Reading the events…</p>}
      {(fresh > 0 || far) && (
        <button
          type="button"
          className={fresh > 0 ? "sa-new-pill sa-fresh" : "sa-new-pill"}
          onClick={() => {
            atEnd.current = true;
            opened.current = null;
            toEnd();
          }}
        >
          <Icon name="arrowDown" size={14} /> {fresh > 0 ? plural(fresh, "new event") : "To the end"}
        </button>
      )}
    </>
  );
}

/** Close enough that the scrollbar does not jump when a long message comes into view. */
function estimatedHeight(row: Row | undefined): number {
  if (row?.entry.kind !== "message") return 36;
  const length = row.piece?.text.length ?? row.entry.text.length;
  return 60 + length / 3.3;
}
