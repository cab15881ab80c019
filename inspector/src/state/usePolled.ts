/** Something of the daemon that is polled while it is shown. */
import { useCallback, useEffect, useRef, useState } from "react";

const EVERY_MS = 2000;

export interface Polled<T> {
  /** Null until the daemon has answered. */
  readonly value: T | null;
  /** Why the last request failed. */
  readonly failure: unknown;
  readonly reload: () => Promise<void>;
}

/** `read` must stay the same function, or the polling starts over. */
export function usePolled<T>(read: () => Promise<T>): Polled<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const isThere = useRef(true);
  const reload = useCallback(async () => {
    try {
      const found = await read();
      if (!isThere.current) return;
      setValue(found);
      setFailure(null);
    } catch (error) {
      if (isThere.current) setFailure(error);
    }
  }, [read]);
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
  return { value, failure, reload };
}
