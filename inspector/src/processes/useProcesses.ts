/** The processes of the daemon, polled while they are shown. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { ProcessInfo } from "../daemon/types";
import { useWorkspace } from "../state/workspace";

const EVERY_MS = 2000;

interface Known {
  /** Null until the daemon has answered. */
  readonly processes: readonly ProcessInfo[] | null;
  /** Why the last request failed. */
  readonly failure: unknown;
  readonly reload: () => Promise<void>;
}

export function useProcesses(): Known {
  const { daemon } = useWorkspace();
  const [processes, setProcesses] = useState<readonly ProcessInfo[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const isThere = useRef(true);
  const reload = useCallback(async () => {
    try {
      const { processes: found } = await daemon.polling.processes.list({ owner: "user" });
      if (!isThere.current) return;
      setProcesses([...found].sort((one, other) => other.createdAtMs - one.createdAtMs));
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
  return { processes, failure, reload };
}

/** The command line; for `sh -c`, only the script. */
export function commandOf({ command, args }: ProcessInfo): string {
  if (command === "sh" && args.length === 2 && args[0] === "-c") return args[1] as string;
  return [command, ...args].join(" ");
}
