/** Why a tab is empty. Something the daemon does not allow is not an error, and retrying does not help. */
import { sayWhy } from "chat/state/words";
import { Problem } from "sandbox-agentd";
import { Button } from "chat/parts/button";
import { Notice } from "chat/parts/notice";

export function Refusal({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isForbidden = error instanceof Problem && error.status === 403;
  return (
    <div className="scrollTab">
      <Notice tone={isForbidden ? "calm" : "bad"}>{isForbidden ? `The daemon does not allow this: ${sayWhy(error)}.` : sayWhy(error)}</Notice>
      {!isForbidden && (
        <div>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </div>
  );
}
