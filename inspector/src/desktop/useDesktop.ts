/** The state of the desktop and its recordings. */
import { useCallback } from "react";
import type { DesktopStatus, RecordingInfo } from "sandbox-agentd";
import { type Polled, usePolled } from "../state/usePolled";
import { useWorkspace } from "../state/workspace";

export interface DesktopFacts {
  readonly status: DesktopStatus;
  readonly recordings: readonly RecordingInfo[];
}

export function useDesktop(): Polled<DesktopFacts> {
  const { desktop } = useWorkspace().daemon.polling;
  return usePolled(
    useCallback(async () => {
      const status = await desktop.status();
      const { recordings } = await desktop.recordings();
      return { status, recordings };
    }, [desktop]),
  );
}
