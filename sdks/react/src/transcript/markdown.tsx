/**
 * Markdown, in pieces if it is long. The parser is loaded with the first text, which is plain until then: an empty
 * session does not need it.
 */
import { type ComponentType, lazy, memo, Suspense, useMemo } from "react";
import { type Piece, piecesOf } from "./pieces.js";
import { PlainText } from "./plainText.js";

const MarkdownBlocks = lazy<ComponentType<{ piece: Piece }>>(() =>
  import("./markdownBlocks.js")
    // A daemon of another version no longer has this file. The page continues without markup until it is reloaded.
    .catch(() => ({ default: PlainPiece })),
);

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  if (pieces.length === 1) return <MarkdownPiece piece={pieces[0] as Piece} />;
  return (
    <div className="sa-long-markdown">
      {pieces.map((piece, index) => (
        <MarkdownPiece key={index} piece={piece} />
      ))}
    </div>
  );
});

export function MarkdownPiece({ piece }: { piece: Piece }) {
  return (
    <Suspense fallback={<PlainPiece piece={piece} />}>
      <MarkdownBlocks piece={piece} />
    </Suspense>
  );
}

function PlainPiece({ piece }: { piece: Piece }) {
  return <PlainText text={piece.text} />;
}
