/** A message, with its time and a copy button, in several rows if it is long. */
import { useState } from "react";
import type { MessageEntry } from "sandbox-agentd";
import { Button } from "../parts/button.js";
import { CopyButton } from "../parts/copyButton.js";
import { bytes, dateAndClock, lastPart, moment } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { useObserved } from "../state/observable.js";
import { isOwn } from "../state/ownTurns.js";
import { useConversation } from "../session/sessionContext.js";
import { Images } from "./images.js";
import { Markdown, MarkdownPiece } from "./markdown.js";
import type { Piece } from "./pieces.js";
import { PlainText } from "./plainText.js";

interface Props {
  entry: MessageEntry;
  piece: Piece | null;
  isFirst: boolean;
  isLast: boolean;
}

export function Message({ entry, piece, isFirst, isLast }: Props) {
  if (entry.role === "user") return <Prompt entry={entry} />;
  const streaming = entry.status === "in_progress" && isLast;
  const name = entry.role === "system" ? "The agent's program said" : "The agent said";
  return (
    <article className={`sa-message sa-${entry.role} ${streaming ? "sa-streaming" : ""}`} aria-label={isFirst ? name : `${name}, continued`}>
      {entry.role === "system" && isFirst && <span className="sa-message-who">System</span>}
      {piece ? <MarkdownPiece piece={piece} /> : <Markdown text={entry.text} />}
      {isLast && <AttachedFiles entry={entry} />}
      {isLast && entry.status === "failed" && <span className="sa-message-failed">Interrupted</span>}
      {isLast && !streaming && <MessageFacts entry={entry} />}
    </article>
  );
}

/** Longer prompts are shown in part: whoever pasted the text knows it. */
const SHOWN = 2000;

function Prompt({ entry }: { entry: MessageEntry }) {
  const { ownTurns } = useConversation().connection;
  const [whole, setWhole] = useState(false);
  const origin = originOf(entry, isOwn(useObserved(ownTurns), entry));
  const cut = !whole && entry.text.length > SHOWN * 1.5;
  return (
    <article className={`sa-message sa-user ${origin ? "sa-foreign" : ""}`} aria-label={`${origin ?? "You"} said`}>
      {origin && <span className="sa-message-who">{origin}</span>}
      <div className="sa-bubble">
        <PlainText className="sa-user-text" text={cut ? `${entry.text.slice(0, SHOWN)}…` : entry.text} />
        {cut && (
          <Button look="quiet" small onClick={() => setWhole(true)}>
            Show all of it ({bytes(entry.text.length)})
          </Button>
        )}
        <AttachedFiles entry={entry} />
      </div>
      <MessageFacts entry={entry} />
    </article>
  );
}

/** Who sent a prompt, unless it came from this browser. */
function originOf(entry: MessageEntry, own: boolean): string | null {
  if (entry.source === "agent") return "Typed in the agent";
  return own ? null : "Another client";
}

function AttachedFiles({ entry }: { entry: MessageEntry }) {
  return (
    <>
      <Images images={entry.images} />
      {entry.files.length > 0 && (
        <ul className="sa-file-chips">
          {entry.files.map((file) => (
            <li key={file.path} title={file.path}>
              <Icon name="file" size={13} /> {lastPart(file.path)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function MessageFacts({ entry }: { entry: MessageEntry }) {
  return (
    <div className="sa-message-facts">
      <time dateTime={entry.time} title={dateAndClock(entry.time)}>
        {moment(entry.time)}
      </time>
      <CopyButton text={entry.text} label="Copy the message" />
    </div>
  );
}
