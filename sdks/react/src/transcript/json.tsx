/** Formatted JSON with a copy button. */
import { CodeText } from "../code/codeText.js";
import { CopyButton } from "../parts/copyButton.js";

export function Json({ text, label }: { text: string; label: string }) {
  return (
    <div className="sa-json">
      <pre tabIndex={0} aria-label={label}>
        <CodeText text={text} language="json" />
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
