/** A command, ready to copy. */
import { CopyButton } from "chat/parts/copyButton";

export function CommandLine({ text }: { text: string }) {
  return (
    <div className="commandLine">
      <code>{text}</code>
      <CopyButton text={text} label="Copy the command" />
    </div>
  );
}
