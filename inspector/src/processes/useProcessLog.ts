/** What a process wrote, followed while it runs. */
import { useEffect, useState } from "react";
import { sayWhy } from "../daemon/problem";
import { frames } from "../daemon/sse";
import type { LogEntry } from "../daemon/types";
import { useWorkspace } from "../state/workspace";

/** Of more than this, the beginning is let go. */
const KEPT = 400_000;
/** Entries asked for at first. */
const TAIL = 500;
const AGAIN_MS = 2000;

interface Log {
  readonly text: string;
  readonly isCut: boolean;
  readonly failure: string | null;
}

export function useProcessLog(processId: string): Log {
  const { daemon } = useWorkspace();
  const [log, setLog] = useState<Log>({ text: "", isCut: false, failure: null });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    // A character may be cut in two by the end of a read; each stream has its own.
    const decoders = new Map<string, TextDecoder>();
    let [text, isCut, last, timer] = ["", false, 0, 0];
    const take = (entries: readonly LogEntry[]) => {
      for (const { stream, sequence, data } of entries) {
        let decoder = decoders.get(stream);
        if (!decoder) decoders.set(stream, (decoder = new TextDecoder()));
        text += decoder.decode(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)), { stream: true });
        if (last === 0 && sequence > 1) isCut = true;
        last = sequence;
      }
      if (text.length > KEPT) [text, isCut] = [text.slice(-KEPT / 2), true];
      setLog({ text, isCut, failure: null });
    };
    const follow = async () => {
      try {
        const from = last ? `since=${last}` : `tail=${TAIL}`;
        const response = await daemon.open(`/v1/processes/${encodeURIComponent(processId)}/logs?follow=true&${from}`, { signal });
        if (!response.body) return;
        for await (const batch of frames(response.body)) {
          take(batch.filter(({ event }) => event === "log").map(({ data }) => JSON.parse(data) as LogEntry));
          if (batch.some(({ event }) => event === "end")) return;
        }
        throw new Error("the connection is lost");
      } catch (error) {
        if (signal.aborted) return;
        setLog({ text, isCut, failure: sayWhy(error) });
        timer = window.setTimeout(follow, AGAIN_MS);
      }
    };
    void follow();
    return () => {
      window.clearTimeout(timer);
      leaving.abort();
    };
  }, [daemon, processId]);
  return log;
}
