/** Filters the session list by words, including the words of a state. The keys that step through sessions follow it too. */
import { useEffect, useMemo, useState } from "react";
import type { SessionInfo } from "sandbox-agentd";
import { useObserved } from "chat/state/observable";
import { STATE_WORDS } from "../parts/stateBadge";
import { useWorkspace } from "../state/workspace";

export interface Search {
  readonly words: string;
  readonly found: readonly SessionInfo[];
  setWords: (words: string) => void;
}

/** How many sessions are searched by their first prompt, the latest first: each of them has to be read once. */
const MAX_READ = 500;

export function useSearch(sessions: readonly SessionInfo[]): Search {
  const [words, setWords] = useState("");
  const { names } = useWorkspace();
  const known = useObserved(names);
  const isSearching = words.trim() !== "";
  useEffect(() => {
    // The list finds out the names of the sessions in view. What is read is the last one first.
    if (isSearching) for (const session of sessions.slice(0, MAX_READ).reverse()) void names.find(session);
  }, [isSearching, sessions, names]);
  const found = useMemo(() => sessions.filter((session) => matches(session, names.of(session), words)), [sessions, names, known, words]);
  return { words, found, setWords };
}

function matches(session: SessionInfo, name: string, words: string): boolean {
  const { sessionId, agent, model, directory, state } = session;
  const text = [name, sessionId, agent, model, directory, STATE_WORDS[state]].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
