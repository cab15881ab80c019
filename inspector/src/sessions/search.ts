/** Filters the session list by words, including the words of a state. The keys that step through sessions follow it too. */
import { useMemo, useState } from "react";
import type { SessionInfo } from "../daemon/types";
import { STATE_WORDS } from "../parts/stateBadge";

export interface Search {
  readonly words: string;
  readonly found: readonly SessionInfo[];
  setWords: (words: string) => void;
}

export function useSearch(sessions: readonly SessionInfo[]): Search {
  const [words, setWords] = useState("");
  const found = useMemo(() => sessions.filter((session) => matches(session, words)), [sessions, words]);
  return { words, found, setWords };
}

function matches(session: SessionInfo, words: string): boolean {
  const { title, sessionId, agent, model, directory, state } = session;
  const text = [title, sessionId, agent, model, directory, STATE_WORDS[state]].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
