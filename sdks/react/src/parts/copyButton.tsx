/** Copies text, and confirms it briefly. */
import { useEffect, useState } from "react";
import { Button, IconButton } from "./button.js";

interface Props {
  text: string | (() => string);
  label?: string;
  /** Show a label beside the icon. */
  words?: boolean;
}

export function CopyButton({ text, label = "Copy", words }: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = window.setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await copyText(typeof text === "function" ? text() : text);
    setCopied(true);
  };
  const icon = copied ? "check" : "copy";
  const shown = copied ? "Copied" : label;
  if (words) return <Button look="quiet" small icon={icon} onClick={copy}>{shown}</Button>;
  return <IconButton icon={icon} size={14} label={shown} onClick={copy} />;
}

/** Browsers offer no clipboard on plain HTTP other than localhost; the old way still works there. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  // Outside the view, where no class of this package applies.
  area.style.cssText = "position: fixed; inset: 0 auto auto -100vw";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
