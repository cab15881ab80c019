/** Sets, raises and removes the limits of a session. */
import { type FormEvent, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { SessionInfo } from "sandbox-agentd";
import { Button } from "chat/parts/button";
import { Dialog } from "../parts/dialog";
import { Notice } from "chat/parts/notice";
import { useWorkspace } from "../state/workspace";
import { LimitFields, limitsIn } from "./limitFields";

export default function LimitsDialog({ info, onClose }: { info: SessionInfo; onClose: () => void }) {
  const { client } = useWorkspace();
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    try {
      await client.updateSession(info.sessionId, { limits: limitsIn(new FormData(event.currentTarget)) });
      onClose();
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };
  return (
    <Dialog title="Limits" onClose={onClose}>
      <form className="form" onSubmit={save}>
        <LimitFields limits={info.limits} placeholder="No limit" isFirst />
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
