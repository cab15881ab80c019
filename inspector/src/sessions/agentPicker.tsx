/** Selects an agent. Agents that are not installed can be installed here. */
import { AgentMark } from "../parts/agentMark";
import { Notice } from "chat/parts/notice";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { InstallButton } from "./installButton";

export function AgentPicker({ chosen, onChoose }: { chosen: string; onChoose: (id: string) => void }) {
  const { agents, failure, loading } = useObserved(useWorkspace().agents);
  if (failure) return <Notice>{failure}</Notice>;
  if (loading && agents.length === 0) return <p className="sa-muted">Loading the agents…</p>;
  return (
    <fieldset className="agentPicker">
      <legend>Agent</legend>
      {agents.map((agent) => (
        <div key={agent.id} className={`agentChoice ${agent.installed ? "" : "absent"}`}>
          <label>
            <input
              type="radio"
              name="agent"
              value={agent.id}
              checked={agent.id === chosen}
              onChange={() => onChoose(agent.id)}
              data-first={agent.id === chosen || undefined}
            />
            <AgentMark agent={agent.id} size={26} />
            <span className="agentChoiceText">
              <strong>{agent.id}</strong>
              <small>{agent.installed ? (agent.version ?? "installed") : "not installed"}</small>
              {agent.installed && !agent.credentialsAvailable && <small className="sa-warn-text">no credentials found</small>}
            </span>
          </label>
          {!agent.installed && <InstallButton agent={agent.id} />}
        </div>
      ))}
    </fieldset>
  );
}
