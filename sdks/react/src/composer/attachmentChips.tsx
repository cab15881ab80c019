/** The files to be sent with the message. */
import { IconButton } from "../parts/button.js";
import { stepOut } from "../parts/focus.js";
import { bytes } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import type { Attachments } from "./attachments.js";

export function AttachmentChips({ attachments }: { attachments: Attachments }) {
  if (attachments.uploads.length === 0) return null;
  return (
    <ul className="sa-file-chips" aria-label="Attached files">
      {attachments.uploads.map((upload) => (
        <li key={upload.id} className={upload.failure ? "sa-failed" : ""} title={upload.failure ?? upload.name}>
          {upload.stored || upload.failure ? <Icon name={upload.failure ? "alert" : "file"} size={13} /> : <span className="sa-spinner" />}
          {upload.name}
          <span className="sa-faint">{upload.failure ?? bytes(upload.size)}</span>
          <IconButton
            icon="close"
            size={12}
            label={`Remove ${upload.name}`}
            onClick={({ currentTarget }) => {
              stepOut(currentTarget);
              attachments.remove(upload.id);
            }}
          />
        </li>
      ))}
    </ul>
  );
}
