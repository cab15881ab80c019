/**
 * The transcript: only what is on the screen is drawn. It stays at the end while one is there, though what was opened
 * stays in sight; otherwise it stands still, says that something new has come, and offers the way to an end far below.
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

/** How near to the end counts as being there. */
const NEAR = 60;
/** How much of what one sees must lie below it before the way there is worth a button over the text. */
const FAR = 1 / 3;

export interface TranscriptProps {
  session: ChatSession;
  /** Also show what agents tell machines: statuses that are hidden otherwise. */
  showAll?: boolean;
  /** Whether the search is open. */
  searching?: boolean;
  /** The search wants to be closed. */
  onSearch?: (open: boolean) => void;
  className?: string;
}

/** The conversation, live. Give it a height, or put it into a flex column: it scrolls by itself. */
export function Transcript({ session, className = "", ...rest }: TranscriptProps) {
  return (
    <SessionContext.Provider value={session.conversation}>
      <div className={`sandbox-agent transcriptFrame ${className}`}>
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
  const opened = useRef<string | null>(null);
  const [far, setFar] = useState(false);
  const [seen, setSeen] = useState<number | null>(null);

  // A card that waits stays while one reads elsewhere: what was filled in is in it, and the keys that answer it are its own.
  const asking = useMemo(() => rows.flatMap((row, index) => (asks(row.entry) ? [index] : [])), [rows]);
  const rangeExtractor = useCallback(
    (range: Range) => [...new Set([...defaultRangeExtractor(range), ...asking])].sort((one, other) => one - other),
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
  // The row may be there only now that what lies above it is open.
  const target = search.current?.key ?? null;
  const targetIndex = useMemo(() => (target === null ? -1 : rows.findIndex((row) => row.key === target)), [rows, target]);
  useEffect(() => {
    if (targetIndex >= 0) virtual.scrollToIndex(targetIndex, { align: "center" });
    // Only when another place is looked for: what streams in meanwhile must not pull one back.
  }, [target, targetIndex >= 0, search.steps]);
  const drawn = virtual.getVirtualItems();
  useEffect(() => {
    if (scroller.current) mark(scroller.current, searching ? search.words : "", target);
  });

  /** To the end, but not past what was opened: that is being read. */
  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const reading = virtual.getVirtualItems().find((item) => item.key === opened.current);
    const isInSight = reading && reading.start > box.scrollTop - 1;
    box.scrollTop = isInSight ? reading.start : box.scrollHeight;
  }, [virtual]);

  /** Find out whether the end is in sight. */
  const look = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    atEnd.current = below < NEAR;
    setFar(below > box.clientHeight * FAR);
    setSeen((before) => (atEnd.current ? null : (before ?? conversation.snapshot.count)));
  }, [conversation]);

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
      <div className="transcript" ref={scroller} onScroll={look} tabIndex={0} role="log" aria-label="Transcript" aria-live="off">
        <div className="transcriptRows" style={{ height }}>
          {drawn.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                data-index={item.index}
                data-key={row.key}
                ref={virtual.measureElement}
                className={`row kind-${row.entry.kind} ${row.depth > 0 ? "nested" : ""} ${row.isTight ? "tight" : ""} ${row.isFirst ? "" : "continued"}`}
                style={{ transform: `translateY(${item.start}px)`, "--depth": row.depth } as CSSProperties}
              >
                <Boundary of={row.entry} instead={(why) => <OddCard title="This page cannot draw what stands here; the session's events have it" text={why} />}>
                  <EntryView row={row} unfolded={unfolded.has(row.entry.id)} onFold={onFold} />
                </Boundary>
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
      {(fresh > 0 || far) && (
        <button
          type="button"
          className={fresh > 0 ? "newPill fresh" : "newPill"}
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

/** Near enough that the scrollbar does not jump when a long message comes into sight. */
function estimatedHeight(row: Row | undefined): number {
  if (row?.entry.kind !== "message") return 36;
  const length = row.piece?.text.length ?? row.entry.text.length;
  return 60 + length / 3.3;
}
