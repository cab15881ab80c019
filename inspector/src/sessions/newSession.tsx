/** The dialog for a new session. */
import { type FormEvent, useEffect, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { PermissionMode } from "chat/session/permissionModes";
import { Button } from "chat/parts/button";
import { Dialog } from "../parts/dialog";
import { Notice } from "chat/parts/notice";
import { go } from "../route";
import type { Offer } from "../state/agentList";
import { limitsIn } from "../session/limitFields";
import { PermissionSelect } from "chat/session/permissionSelect";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { AgentPicker } from "./agentPicker";
import { NO_EXTRAS, requestOf } from "./extras";
import { ExtrasForm } from "./extrasForm";

const LAST_AGENT = "sandbox-agent.lastAgent";
const LAST_DIRECTORY = "sandbox-agent.lastDirectory";

export default function NewSession({ onClose }: { onClose: () => void }) {
  const workspace = useWorkspace();
  const { agents } = useObserved(workspace.agents);
  const [agent, setAgent] = useState(localStorage.getItem(LAST_AGENT) ?? "mock");
  const [directory, setDirectory] = useState(localStorage.getItem(LAST_DIRECTORY) ?? "");
  const [title, setTitle] = useState("");
  const [agentMode, setAgentMode] = useState("");
  const [permissionMode, setPermissionMode] = useState<PermissionMode>("default");
  const [model, setModel] = useState("");
  const [variant, setVariant] = useState("");
  const [extras, setExtras] = useState(NO_EXTRAS);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const installed = agents.find(({ id }) => id === agent)?.installed ?? false;
  const offer = useOffer(agent, directory, installed);
  const variants = offer?.models.find(({ id }) => id === (model || offer.defaultModel))?.variants ?? [];

  const choose = (id: string) => {
    setAgent(id);
    setAgentMode("");
    setModel("");
    setVariant("");
  };

  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Empty fields leave the daemon's own limits in force.
    const limits = Object.entries(limitsIn(new FormData(event.currentTarget))).filter(([, value]) => value !== null);
    setFailure(null);
    setBusy(true);
    try {
      const created = await workspace.client.newSession({
        agent,
        permissionMode,
        ...(directory && { directory }),
        ...(title && { title }),
        ...(agentMode && { agentMode }),
        ...(model && { model }),
        ...(variant && { variant }),
        ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
        ...requestOf(extras),
      });
      localStorage.setItem(LAST_AGENT, agent);
      localStorage.setItem(LAST_DIRECTORY, directory);
      onClose();
      go(created.sessionId);
    } catch (error) {
      setFailure(sayWhy(error));
      setBusy(false);
    }
  };

  return (
    <Dialog title="New session" onClose={onClose} wide>
      <form className="form" onSubmit={create}>
        <AgentPicker chosen={agent} onChoose={choose} />
        <div className="formGrid">
          <label>
            <span>Title</span>
            <input name="title" value={title} onChange={(event) => setTitle(event.target.value)} placeholder="What is it about?" maxLength={256} />
          </label>
          <label>
            <span>Directory</span>
            <input name="directory" value={directory} onChange={(event) => setDirectory(event.target.value)} placeholder="The daemon's own" spellCheck={false} />
          </label>
          <label>
            <span>Mode</span>
            <select name="agentMode" value={agentMode} onChange={(event) => setAgentMode(event.target.value)}>
              <option value="">Default</option>
              {offer?.modes.map((mode) => (
                <option key={mode.id} value={mode.id}>
                  {mode.name}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>Permissions</span>
            <PermissionSelect name="permissionMode" value={permissionMode} onChange={setPermissionMode} />
          </label>
          <label>
            <span>Model</span>
            <input name="model" list="models" value={model} onChange={(event) => setModel(event.target.value)} placeholder={offer?.defaultModel ?? "The agent's own choice"} spellCheck={false} />
            <datalist id="models">
              {offer?.models.map((offered) => (
                <option key={offered.id} value={offered.id}>
                  {offered.name ?? offered.id}
                </option>
              ))}
            </datalist>
          </label>
          <label>
            <span>Variant</span>
            <input name="variant" list="variants" value={variant} onChange={(event) => setVariant(event.target.value)} placeholder="Default" spellCheck={false} />
            <datalist id="variants">
              {variants.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
        </div>
        <ExtrasForm extras={extras} onChange={setExtras} />
        {failure && <Notice>{failure}</Notice>}
        <footer className="formEnd">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={busy}>
            {busy ? "Starting…" : "Start"}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** What the agent offers in the directory. Requested shortly after the last key press, and only for an installed agent. */
function useOffer(agent: string, directory: string, installed: boolean): Offer | null {
  const { agents } = useWorkspace();
  const [offer, setOffer] = useState<Offer | null>(null);
  useEffect(() => {
    setOffer(null);
    if (!installed) return;
    let current = true;
    const timer = window.setTimeout(async () => {
      const found = await agents.offer(agent, directory);
      if (current) setOffer(found);
    }, 300);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [agents, agent, directory, installed]);
  return offer;
}
