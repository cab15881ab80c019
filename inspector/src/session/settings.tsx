/** Switches the mode, model and variant of a session. */
import { type FormEvent, useEffect, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { SessionInfo } from "sandbox-agentd";
import { Button } from "chat/parts/button";
import { Dialog } from "../parts/dialog";
import { Notice } from "chat/parts/notice";
import type { Offer } from "../state/agentList";
import { useWorkspace } from "../state/workspace";

export default function Settings({ info, onClose }: { info: SessionInfo; onClose: () => void }) {
  const { client, agents } = useWorkspace();
  const [offer, setOffer] = useState<Offer | null>(null);
  const [agentMode, setAgentMode] = useState(info.agentMode);
  const [model, setModel] = useState(info.model ?? "");
  const [variant, setVariant] = useState(info.variant ?? "");
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    void agents.offer(info.agent, info.directory).then((found) => current && setOffer(found));
    return () => {
      current = false;
    };
  }, [agents, info.agent, info.directory]);
  const variants = offer?.models.find(({ id }) => id === (model || offer.defaultModel))?.variants ?? [];

  const save = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await client.updateSession(info.sessionId, {
        ...(agentMode !== info.agentMode && { agentMode }),
        ...(model && model !== info.model && { model }),
        ...(variant && variant !== info.variant && { variant }),
      });
      onClose();
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };

  return (
    <Dialog title="Model and mode" onClose={onClose}>
      <form className="form" onSubmit={save}>
        <label>
          <span>Mode</span>
          <select name="agentMode" data-first value={agentMode} onChange={(event) => setAgentMode(event.target.value)}>
            {!offer?.modes.some((mode) => mode.id === info.agentMode) && <option value={info.agentMode}>{info.agentMode}</option>}
            {offer?.modes.map((mode) => (
              <option key={mode.id} value={mode.id}>
                {mode.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Model</span>
          <input name="model" list="session-models" value={model} onChange={(event) => setModel(event.target.value)} placeholder={offer?.defaultModel ?? "The agent's own choice"} spellCheck={false} />
        </label>
        <datalist id="session-models">
          {offer?.models.map((offered) => (
            <option key={offered.id} value={offered.id}>
              {offered.name ?? offered.id}
            </option>
          ))}
        </datalist>
        <label>
          <span>Variant</span>
          <input name="variant" list="session-variants" value={variant} onChange={(event) => setVariant(event.target.value)} placeholder="Default" spellCheck={false} />
        </label>
        <datalist id="session-variants">
          {variants.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {failure && <Notice>{failure}</Notice>}
        <footer className="formEnd">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary">
            Switch
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
