/** Highlighted code. Long code is rendered in blocks of lines, and the browser lays out only the visible ones. */
import { type ReactNode, useMemo } from "react";
import { exact } from "../transcript/exact.js";
import { linesOf, type Token, useTokens } from "./tokens.js";

const BLOCK_LINES = 100;
/** Longer lines are broken: no browser can lay out a line of a megabyte in reasonable time. */
const LONGEST_LINE = 2000;

export function CodeText({ text, language }: { text: string; language: string }) {
  const tokens = useTokens(text, language);
  const blocks = useMemo(() => {
    const lines = tokens ? linesOf(tokens) : plainLines(text);
    if (lines.length <= BLOCK_LINES) return [lines];
    return Array.from({ length: Math.ceil(lines.length / BLOCK_LINES) }, (_, at) => lines.slice(at * BLOCK_LINES, (at + 1) * BLOCK_LINES));
  }, [tokens, text]);
  if (blocks.length === 1) return <code>{drawnLines(blocks[0] ?? [])}</code>;
  return (
    <code>
      {blocks.map((lines, index) => (
        <span key={index} className="sa-code-lines" style={{ containIntrinsicSize: `auto ${lines.length * 18}px` }}>
          {drawnLines(lines)}
        </span>
      ))}
    </code>
  );
}

function plainLines(text: string): Token[][] {
  return text.split("\n").flatMap((line) => {
    if (line.length <= LONGEST_LINE) return [line ? [{ text: line, look: "" }] : []];
    return (line.match(new RegExp(`[^]{1,${LONGEST_LINE}}`, "g")) ?? []).map((part) => [{ text: part, look: "" }]);
  });
}

function drawnLines(lines: readonly (readonly Token[])[]): ReactNode {
  return lines.map((line, index) => [index > 0 ? "\n" : null, drawnTokens(line, index)]);
}

export function drawnTokens(tokens: readonly Token[], key: number = 0): ReactNode {
  return tokens.map(({ text, look }, index) =>
    look ? (
      <span key={`${key}.${index}`} className={look}>
        {exact(text)}
      </span>
    ) : (
      exact(text)
    ),
  );
}
