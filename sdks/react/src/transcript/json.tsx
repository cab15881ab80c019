/** Formatted JSON with a copy button. */
import { CopyButton } from "../parts/copyButton.js";
import { exact } from "./exact.js";

export function Json({ text, label }: { text: string; label: string }) {
  return (
    <div className="sa-json">
      <pre tabIndex={0} aria-label={label}>
        {exact(text)}
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
