/** The state of a search in the transcript: the text, the matches, and the current one. */
import { useDeferredValue, useEffect, useMemo, useState } from "react";
import type { Entry } from "sandbox-agentd";
import { Rows } from "./rows.js";
import { type Found, found } from "./search.js";

export interface TranscriptSearch {
  readonly words: string;
  readonly at: number;
  readonly many: number;
  readonly current: Found | null;
  /** How often the user asked for another match, even if there is only one. */
  readonly steps: number;
  onWords: (words: string) => void;
  onStep: (by: number) => void;
}

export function useTranscriptSearch(entries: readonly Entry[], searching: boolean, onShow: (place: Found) => void): TranscriptSearch {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const [steps, setSteps] = useState(0);
  const rows = useMemo(() => new Rows(), []);
  const wanted = useDeferredValue(searching ? words : "");
  const places = useMemo(() => found(entries, wanted, rows), [entries, wanted, rows]);
  const shown = Math.min(at, Math.max(0, places.length - 1));
  const current = places[shown] ?? null;
  useEffect(() => {
    if (current) onShow(current);
    // When the match changes, or was requested again.
  }, [current?.key, steps]);
  return {
    words,
    at: shown,
    many: places.length,
    current,
    steps,
    onWords: (typed) => {
      setWords(typed);
      setAt(0);
    },
    onStep: (by) => {
      setAt((shown + by + places.length) % Math.max(1, places.length));
      setSteps(steps + 1);
    },
  };
}
