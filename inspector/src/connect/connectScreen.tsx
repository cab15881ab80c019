/** Asks for a daemon's address and token, explains how to start one, and shows why the last attempt failed. */
import { useState } from "react";
import { tidied } from "../daemon/arrival";
import type { Address } from "../daemon/daemon";
import type { Failure } from "../daemon/diagnosis";
import { Button } from "chat/parts/button";
import { Icon } from "chat/parts/icon";
import { Notice } from "chat/parts/notice";
import { CommandLine } from "./commandLine";
import { FailureNotice } from "./failureNotice";

interface Props {
  address: Address;
  failure: Failure | null;
  busy: boolean;
  /** The address comes from the link that was opened. */
  fromLink: boolean;
  onConnect: (address: Address) => void;
}

export function ConnectScreen({ address, failure, busy, fromLink, onConnect }: Props) {
  const [endpoint, setEndpoint] = useState(address.endpoint);
  const [token, setToken] = useState(address.token ?? "");
  const wantsToken = failure?.kind === "token missing" || failure?.kind === "token wrong";
  return (
    <main className="connect">
      <div className="connectBox">
        <h1>
          <Icon name="terminal" size={22} /> Inspector
        </h1>
        <p className="sa-muted">Watch and control every agent of a sandbox-agent daemon.</p>
        {fromLink && !failure && (
          <Notice tone="warn">
            This address comes from the link you opened. Connect only if you trust it: your token will be sent there.
          </Notice>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onConnect({ endpoint: tidied(endpoint), token: token.trim() || null });
          }}
        >
          <label>
            <span>Endpoint</span>
            <input
              name="endpoint"
              value={endpoint}
              onChange={(event) => setEndpoint(event.target.value)}
              spellCheck={false}
              autoComplete="off"
              inputMode="url"
              required
            />
          </label>
          <label>
            <span>
              Token <em>if the daemon has one</em>
            </span>
            <input
              name="token"
              type="password"
              value={token}
              onChange={(event) => setToken(event.target.value)}
              autoComplete="off"
              aria-invalid={wantsToken}
            />
          </label>
          {failure && <FailureNotice failure={failure} endpoint={tidied(endpoint)} />}
          <Button type="submit" look="primary" disabled={busy}>
            {busy ? "Connecting…" : "Connect"}
          </Button>
        </form>
        <section className="connectHelp">
          <h2>No daemon yet?</h2>
          <p>Start one on this machine, then connect:</p>
          <CommandLine text={startCommand()} />
          <p>
            With <code>--token-file FILE</code> instead of <code>--no-token</code>, it requires a token and prints an address that includes it.
          </p>
          <p className="sa-faint">
            The token stays in this tab (session storage) and in other tabs of this page, and is sent only to the endpoint above.
          </p>
        </section>
      </div>
    </main>
  );
}

/** A page from another origin needs the daemon's permission to call it. */
function startCommand(): string {
  return `sandbox-agent server --no-token --cors-allow-origin ${window.location.origin}`;
}
