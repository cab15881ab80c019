/** Which sessions the list shows: by words and by state. The keys that go from one to the next go by it, too. */
import { useMemo, useState } from "react";
import type { SessionInfo, SessionState } from "../daemon/types";

export interface Search {
  readonly words: string;
  readonly state: SessionState | null;
  readonly found: readonly SessionInfo[];
  setWords: (words: string) => void;
  setState: (state: SessionState | null) => void;
}

export function useSearch(sessions: readonly SessionInfo[]): Search {
  const [words, setWords] = useState("");
  const [state, setState] = useState<SessionState | null>(null);
  const found = useMemo(
    () => sessions.filter((session) => (!state || session.state === state) && matches(session, words)),
    [sessions, state, words],
  );
  return { words, state, found, setWords, setState };
}

function matches(session: SessionInfo, words: string): boolean {
  const text = [session.title, session.sessionId, session.agent, session.model, session.directory].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
