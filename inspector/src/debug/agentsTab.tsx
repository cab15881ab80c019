/** The agents of this daemon: their state, capabilities, modes and models. */
import { useState } from "react";
import type { AgentInfo } from "sandbox-agentd";
import { AgentMark } from "../parts/agentMark";
import { Button } from "chat/parts/button";
import { Icon } from "chat/parts/icon";
import { Notice } from "chat/parts/notice";
import { InstallButton } from "../sessions/installButton";
import type { Offer } from "../state/agentList";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { duration, plural } from "chat/parts/format";
import { AgentCoverage } from "./agentCoverage";

export function AgentsTab() {
  const workspace = useWorkspace();
  const { agents, failure, loading } = useObserved(workspace.agents);
  return (
    <div className="scrollTab">
      <div className="debugTools">
        <p className="debugCount sa-grow">{loading ? "Loading…" : plural(agents.length, "agent")}</p>
        <Button look="quiet" small onClick={() => void workspace.agents.reload()}>
          Refresh
        </Button>
      </div>
      {failure && <Notice>{failure}</Notice>}
      {agents.map((agent) => (
        <AgentFacts key={agent.id} agent={agent} />
      ))}
      {agents.length > 0 && <Matrix agents={agents} />}
    </div>
  );
}

function AgentFacts({ agent }: { agent: AgentInfo }) {
  const workspace = useWorkspace();
  const [offer, setOffer] = useState<Offer | null>(null);
  const [asking, setAsking] = useState(false);
  const ask = async () => {
    setAsking(true);
    setOffer(await workspace.agents.offer(agent.id, ""));
    setAsking(false);
  };
  return (
    <section className="agentFacts">
      <header>
        <AgentMark agent={agent.id} size={24} />
        <strong>{agent.id}</strong>
        <span className="sa-tag">{agent.stability}</span>
        <span className="sa-grow" />
        {agent.installed ? (
          !offer && (
            <Button small look="quiet" disabled={asking} onClick={ask}>
              {asking ? "Loading…" : "Modes and models"}
            </Button>
          )
        ) : (
          <InstallButton agent={agent.id} />
        )}
      </header>
      <dl className="facts">
        <Fact name="Version" value={agent.installed ? (agent.version ?? "unknown") : "not installed"} />
        {agent.testedVersion && <Fact name="Tested with" value={agent.testedVersion} />}
        {agent.path && <Fact name="Path" value={agent.path} />}
        <Fact name="Credentials" value={agent.credentialsAvailable ? "found" : "none found"} />
        {agent.serverStatus && <Fact name="Server" value={serverText(agent.serverStatus)} />}
        {offer && <Fact name="Modes" value={offer.modes.map((mode) => mode.id).join(", ") || "none"} />}
        {offer && (
          <Fact
            name="Models"
            value={offer.models.map((model) => (model.id === offer.defaultModel ? `${model.id} (default)` : model.id)).join("\n") || "none reported"}
          />
        )}
      </dl>
      {offer?.failure && <Notice tone="warn">{offer.failure}</Notice>}
      <AgentCoverage agent={agent.id} />
    </section>
  );
}

export function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The process that sessions of an agent share. */
function serverText(server: Readonly<Record<string, unknown>>): string {
  const uptime = Number(server.uptimeMs ?? 0);
  const restarts = Number(server.restartCount ?? 0);
  const facts = [server.status, uptime > 0 && `for ${duration(uptime)}`, restarts > 0 && plural(restarts, "restart"), server.lastError];
  return facts.filter(Boolean).join(" · ");
}

/** `streamingDeltas` as words. */
function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function Matrix({ agents }: { agents: readonly AgentInfo[] }) {
  const names = Object.keys(agents[0]?.capabilities ?? {}) as (keyof AgentInfo["capabilities"])[];
  return (
    <div className="matrixBox" tabIndex={0} role="region" aria-label="Capabilities">
      <table className="matrix">
        <caption>Capabilities</caption>
        <thead>
          <tr>
            <td />
            {agents.map((agent) => (
              <th key={agent.id} scope="col">
                {agent.id}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{spaced(name)}</th>
              {agents.map((agent) => (
                <td key={agent.id}>
                  {agent.capabilities[name] ? (
                    <>
                      <Icon name="check" size={13} />
                      <span className="sa-offscreen">yes</span>
                    </>
                  ) : (
                    <span className="sa-faint">no</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
