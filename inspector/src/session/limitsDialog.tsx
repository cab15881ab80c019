/** Sets, raises and removes the limits of a session. */
import { type FormEvent, useState } from "react";
import { sessionPath } from "../daemon/daemon";
import { sayWhy } from "../daemon/problem";
import type { SessionInfo } from "../daemon/types";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Notice } from "../parts/notice";
import { useWorkspace } from "../state/workspace";
import type { LimitName } from "../usage/limits";

const LIMITS: readonly (readonly [LimitName, string, string])[] = [
  ["maxCostUsd", "Cost in US dollars", "any"],
  ["maxTokens", "Tokens", "1"],
  ["maxTurns", "Turns", "1"],
  ["maxTurnSeconds", "Seconds of a turn", "any"],
  ["maxSessionSeconds", "Seconds of the session", "any"],
];

export default function LimitsDialog({ info, onClose }: { info: SessionInfo; onClose: () => void }) {
  const { daemon } = useWorkspace();
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const limits = Object.fromEntries(LIMITS.map(([name]) => [name, given.get(name) ? Number(given.get(name)) : null]));
    try {
      await daemon.patch(sessionPath(info.sessionId), { limits });
      onClose();
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };
  return (
    <Dialog title="Limits" onClose={onClose}>
      <form className="form" onSubmit={save}>
        {LIMITS.map(([name, words, step], index) => (
          <label key={name}>
            <span>{words}</span>
            <input
              name={name}
              type="number"
              min={step === "1" ? 1 : 0}
              step={step}
              defaultValue={info.limits?.[name] ?? ""}
              placeholder="No limit"
              {...(index === 0 && { "data-first": true })}
            />
          </label>
        ))}
        {failure && <Notice>{failure}</Notice>}
        <footer className="formEnd">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary">
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
