/** Why a tab has nothing to show. What the daemon does not allow is no failure, and nothing to try again. */
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
