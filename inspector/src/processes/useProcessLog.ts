/** The output of a process, followed while it runs. */
import { useEffect, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { ProcessLogEntry, StreamConnection } from "sandbox-agentd";
import { useWorkspace } from "../state/workspace";

/** Beyond this, the beginning is dropped. */
const KEPT = 400_000;
/** Entries requested at first. */
const TAIL = 500;

interface Log {
  readonly text: string;
  readonly isCut: boolean;
  readonly failure: string | null;
}

export function useProcessLog(processId: string): Log {
  const { processes } = useWorkspace().client;
  const [log, setLog] = useState<Log>({ text: "", isCut: false, failure: null });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    // A read may end inside a character; each stream needs its own decoder.
    const decoders = new Map<string, TextDecoder>();
    let [text, isCut, last] = ["", false, 0];
    const take = ({ stream, sequence, data }: ProcessLogEntry) => {
      let decoder = decoders.get(stream);
      if (!decoder) decoders.set(stream, (decoder = new TextDecoder()));
      text += decoder.decode(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)), { stream: true });
      if (last === 0 && sequence > 1) isCut = true;
      last = sequence;
      if (text.length > KEPT) [text, isCut] = [text.slice(-KEPT / 2), true];
      setLog({ text, isCut, failure: null });
    };
    const onConnection = (connection: StreamConnection) =>
      setLog({ text, isCut, failure: connection.state === "waiting" ? sayWhy(connection.error ?? "the connection is lost") : null });
    const follow = async () => {
      try {
        for await (const entry of processes.followLogs(processId, { tail: TAIL, signal, onConnection })) take(entry);
      } catch (error) {
        if (!signal.aborted) setLog({ text, isCut, failure: sayWhy(error) });
      }
    };
    void follow();
    return () => leaving.abort();
  }, [processes, processId]);
  return log;
}
