/** What somebody said. */
import type { MessageEntry } from "sdk/transcript";
import { lastPart } from "../parts/format";
import { Icon } from "../parts/icon";
import { Images } from "./images";
import { Markdown } from "./markdown";

export function Message({ entry }: { entry: MessageEntry }) {
  const streaming = entry.status === "in_progress";
  return (
    <article className={`message ${entry.role} ${streaming ? "streaming" : ""}`} aria-label={`${NAMES[entry.role]} said`}>
      {entry.role === "user" && <span className="messageWho">You</span>}
      {entry.role === "system" && <span className="messageWho">System</span>}
      {entry.role === "user" ? <p className="userText" dir="auto">{entry.text}</p> : <Markdown text={entry.text} />}
      <Images images={entry.images} />
      {entry.files.length > 0 && (
        <ul className="fileChips">
          {entry.files.map((file) => (
            <li key={file.path} title={file.path}>
              <Icon name="file" size={13} /> {lastPart(file.path)}
            </li>
          ))}
        </ul>
      )}
      {entry.status === "failed" && <span className="messageFailed">Broken off</span>}
    </article>
  );
}

const NAMES = { user: "You", assistant: "The agent", system: "The agent's program" } as const;
