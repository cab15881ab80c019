/** Shown when the page itself has crashed: the sessions continue without it. */
import { Button } from "chat/parts/button";
import { Notice } from "chat/parts/notice";

export function Broken({ why }: { why: string }) {
  return (
    <main className="sessionGone broken">
      <Notice>The page has run into an error: {why}</Notice>
      <Button onClick={() => window.location.reload()}>Reload</Button>
    </main>
  );
}
