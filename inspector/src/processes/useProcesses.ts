/** The processes of the daemon, latest first. */
import { useCallback } from "react";
import type { ProcessInfo } from "sandbox-agentd";
import { type Polled, usePolled } from "../state/usePolled";
import { useWorkspace } from "../state/workspace";

export function useProcesses(): Polled<readonly ProcessInfo[]> {
  const { processes } = useWorkspace().daemon.polling;
  return usePolled(
    useCallback(async () => {
      const { processes: found } = await processes.list({ owner: "user" });
      return [...found].sort((a, b) => b.createdAtMs - a.createdAtMs);
    }, [processes]),
  );
}

/** The command line; for `sh -c`, only the script. */
export function commandLineOf({ command, args }: ProcessInfo): string {
  if (command === "sh" && args.length === 2 && args[0] === "-c") return args[1] as string;
  return [command, ...args].join(" ");
}
