/**
 * Image types that a browser draws without running anything. SVG is excluded: files in a workspace are never rendered
 * as documents of this page.
 */
import { useEffect, useState } from "react";

const TYPES: Readonly<Record<string, string>> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };

export function imageType(name: string): string | null {
  return TYPES[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? null;
}

export function FileImage({ blob, name }: { blob: Blob; name: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url && <img src={url} alt={name} />;
}
