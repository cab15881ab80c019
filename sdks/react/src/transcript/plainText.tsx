/** Text without markup. */
import { useMemo } from "react";
import { chunksOf } from "./pieces.js";

/** In pieces, so that the browser lays out only the visible ones. */
export function PlainText({ text, className = "sa-plain-text" }: { text: string; className?: string }) {
  const chunks = useMemo(() => chunksOf(text), [text]);
  if (chunks.length <= 4) return <div className={className} dir="auto">{text}</div>;
  return (
    <div className={className} dir="auto">
      {chunks.map((chunk, index) => (
        <div key={index} className="sa-plain-piece">
          {chunk}
        </div>
      ))}
    </div>
  );
}
