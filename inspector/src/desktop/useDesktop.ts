/** The state of the desktop, polled while it is shown. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { DesktopStatus, RecordingInfo } from "../daemon/types";
import { useWorkspace } from "../state/workspace";

const EVERY_MS = 2000;

interface Known {
  /** Null until the daemon has answered. */
  readonly status: DesktopStatus | null;
  readonly recordings: readonly RecordingInfo[];
  /** Why the last request failed. */
  readonly failure: unknown;
  readonly reload: () => Promise<void>;
}

export function useDesktop(): Known {
  const { daemon } = useWorkspace();
  const [status, setStatus] = useState<DesktopStatus | null>(null);
  const [recordings, setRecordings] = useState<readonly RecordingInfo[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  const isThere = useRef(true);
  const reload = useCallback(async () => {
    try {
      const found = await daemon.polling.desktop.status();
      const made = await daemon.polling.desktop.recordings();
      if (!isThere.current) return;
      setStatus(found);
      setRecordings(made.recordings);
      setFailure(null);
    } catch (error) {
      if (isThere.current) setFailure(error);
    }
  }, [daemon]);
  useEffect(() => {
    isThere.current = true;
    let timer = 0;
    const again = async () => {
      if (!document.hidden) await reload();
      if (isThere.current) timer = window.setTimeout(again, EVERY_MS);
    };
    void again();
    return () => {
      isThere.current = false;
      window.clearTimeout(timer);
    };
  }, [reload]);
  return { status, recordings, failure, reload };
}
