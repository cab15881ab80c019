/** A permission request: what exactly the agent wants to do, and the three answers. */
import { type RefObject, useEffect, useRef, useState } from "react";
import type { PermissionEntry } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { pretty, withoutDirectory } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { useConversation, useDirectory } from "../session/sessionContext.js";
import { commandOf } from "../transcript/commandOf.js";
import { DiffView } from "../transcript/diffView.js";
import { exact } from "../transcript/exact.js";
import { Json } from "../transcript/json.js";
import { messageOf, outcomeOf } from "../transcript/outcome.js";
import { TooLate } from "./tooLate.js";
import { Command } from "../transcript/tool.js";
import { useAnswer } from "./useAnswer.js";

const REPLIES = { once: "Allow once", always: "Always in this session", reject: "Reject" } as const;

export function PermissionCard({ entry }: { entry: PermissionEntry }) {
  if (entry.state !== "requested") return <Resolved entry={entry} />;
  return <Asking entry={entry} />;
}

function Resolved({ entry }: { entry: PermissionEntry }) {
  const rejected = entry.state === "reject";
  const message = messageOf(entry);
  return (
    <div className={`sa-resolved ${rejected ? "sa-rejected" : "sa-accepted"}`}>
      <Icon name={rejected ? "cross" : "check"} size={14} />
      <span>{outcomeOf(entry)}</span>
      {/* If there is a call, it is shown right above. */}
      {entry.callId === null && <span className="sa-fold-summary sa-mono">{exact(entry.title)}</span>}
      {message && <span className="sa-resolved-message">“{message}”</span>}
      <TooLate requestId={entry.id} />
    </div>
  );
}

function Asking({ entry }: { entry: PermissionEntry }) {
  const { client, sessionId } = useConversation();
  const { busy, failure, answer } = useAnswer(entry.id);
  // Null until the first time: whoever changes their mind gets back to the button.
  const [rejecting, setRejecting] = useState<boolean | null>(null);
  const [reason, setReason] = useState("");
  const reply = (choice: keyof typeof REPLIES, message?: string) =>
    answer(
      () => client.replyPermission(sessionId, entry.permissionId, { reply: choice, ...(message && { message }) }),
      REPLIES[choice],
    );
  const card = useRef<HTMLElement>(null);
  useReplyKeys(card, busy, {
    KeyY: () => reply("once"),
    KeyA: () => reply("always"),
    KeyR: () => setRejecting(true),
  });
  return (
    <section ref={card} className="sa-card sa-asks" role="group" aria-label={`Permission: ${entry.toolName}`}>
      <header>
        <Icon name="shield" />
        <strong>Allow {entry.toolName}?</strong>
        {!["other", entry.toolName.toLowerCase()].includes(entry.toolKind) && <span className="sa-tag">{entry.toolKind}</span>}
        {entry.reason && <span className="sa-tag">{entry.reason}</span>}
      </header>
      <Wanted entry={entry} />
      {rejecting ? (
        <form
          className="sa-reject-form"
          onSubmit={(event) => {
            event.preventDefault();
            void reply("reject", reason.trim());
          }}
        >
          <input
            name="reason"
            aria-label="Reason (sent to the agent)"
            placeholder="Reason for the agent (optional)"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setRejecting(false)}
            autoFocus
          />
          <Button type="submit" look="danger" disabled={busy}>
            Reject
          </Button>
          <Button look="quiet" onClick={() => setRejecting(false)} disabled={busy}>
            Back
          </Button>
        </form>
      ) : (
        <div className="sa-card-actions">
          <Button look="primary" disabled={busy} onClick={() => reply("once")} keys="Alt Y">
            Allow once
          </Button>
          <Button disabled={busy} onClick={() => reply("always")} keys="Alt A">
            Always in this session
          </Button>
          <Button look="quiet" disabled={busy} onClick={() => setRejecting(true)} keys="Alt R" autoFocus={rejecting === false}>
            Reject…
          </Button>
        </div>
      )}
      {failure && (
        <p className="sa-bad-text" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}

/** What the agent wants to do, exactly: the command, the change, or else the call's title and input. */
function Wanted({ entry }: { entry: PermissionEntry }) {
  const directory = useDirectory();
  const command = commandOf(entry);
  if (command !== null) return <Command text={command} />;
  if (entry.diff) {
    const paths = entry.paths.map((path) => withoutDirectory(path, directory));
    return <DiffView path={paths.join(", ") || entry.title} action="" diff={entry.diff} />;
  }
  const lines = new Set([entry.title, ...entry.paths].filter((line) => line !== entry.toolName));
  return (
    <>
      {lines.size > 0 && <p className="sa-card-text sa-mono">{exact([...lines].join("\n"))}</p>}
      <Json label="Input" text={pretty(entry.input)} />
    </>
  );
}

function useReplyKeys(card: RefObject<HTMLElement | null>, busy: boolean, acts: Readonly<Record<string, () => unknown>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    if (busy) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
      const act = latest.current[event.code];
      if (!act || !card.current || document.querySelector("dialog[open]")) return;
      // One press answers one card, the first pending one. It is scrolled into view first, so that nothing is allowed unread.
      event.preventDefault();
      if (isInSight(card.current)) act();
      else card.current.scrollIntoView({ block: "nearest" });
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [card, busy]);
}

function isInSight(card: HTMLElement): boolean {
  const { top, bottom } = card.getBoundingClientRect();
  const box = card.closest(".sa-transcript, .sa-approvals")?.getBoundingClientRect();
  return !box || (top < box.bottom && bottom > box.top);
}
