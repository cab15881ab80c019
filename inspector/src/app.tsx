/** The page: connected to a daemon, or the form to connect to one. */
import { useCallback, useEffect, useState } from "react";
import { ConnectScreen } from "./connect/connectScreen";
import { type Arrival, DEFAULT_ENDPOINT, forget, remember } from "./daemon/arrival";
import type { Address } from "./daemon/daemon";
import { connect, type Failure } from "./daemon/diagnosis";
import { RequestLog } from "./daemon/requestLog";
import { shareToken, tokenOfAnotherTab } from "./daemon/tabs";
import { Shell } from "./shell";
import { Workspace, WorkspaceProvider } from "./state/workspace";

const log = new RequestLog();

export function App({ arrival }: { arrival: Arrival }) {
  const [workspace, setWorkspace] = useState<Workspace | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(arrival.suggested === null);
  const [asked, setAsked] = useState<Address>(arrival.suggested ?? arrival.known);

  const leave = useCallback((why: Failure | null) => {
    setWorkspace((current) => {
      current?.stop();
      return null;
    });
    forget();
    setFailure(why);
  }, []);

  const enter = useCallback(
    async (address: Address, quietly = false): Promise<void> => {
      setBusy(true);
      setFailure(null);
      const outcome = await connect(address, log);
      if ("failure" in outcome) {
        const mayAsk = quietly && outcome.failure.kind === "token missing";
        const token = mayAsk ? await tokenOfAnotherTab(address.endpoint) : null;
        if (token !== null) return enter({ ...address, token });
        setBusy(false);
        // A page that was not served by a daemon has none at its own address, so do not report that it failed.
        if (quietly && outcome.failure.kind === "not a daemon") setAsked({ endpoint: DEFAULT_ENDPOINT, token: null });
        else setFailure(outcome.failure);
        return;
      }
      setBusy(false);
      remember(address);
      // Not earlier: a form that is still open keeps its input, and would lose focus if it were mounted again.
      setAsked(address);
      const entered = new Workspace(outcome.daemon, outcome.version, () => leave({ kind: "token wrong" }));
      entered.start();
      setWorkspace(entered);
    },
    [leave],
  );

  useEffect(() => {
    if (arrival.suggested === null) void enter(arrival.known, true);
  }, [arrival, enter]);

  useEffect(() => (workspace ? shareToken(workspace.daemon.address) : undefined), [workspace]);

  if (workspace) {
    return (
      <WorkspaceProvider value={workspace}>
        <Shell onLeave={() => leave(null)} />
      </WorkspaceProvider>
    );
  }
  return (
    <ConnectScreen
      key={asked.endpoint}
      address={asked}
      failure={failure}
      busy={busy}
      fromLink={arrival.suggested?.endpoint === asked.endpoint}
      onConnect={enter}
    />
  );
}
