/** A change to a file: counts, then the lines, unified or side by side. */
import { memo, useMemo, useState } from "react";
import { Button } from "../parts/button.js";
import { CopyButton } from "../parts/copyButton.js";
import { count, withoutDirectory } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { Value, useObserved } from "../state/observable.js";
import { type Diff, type DiffLine, parsedDiff, sideBySide } from "./diff.js";
import { exact } from "./exact.js";
import { drawnTokens } from "../code/codeText.js";
import { languageOf, linesOf, type Token, useTokens } from "../code/tokens.js";

/** A lock file has tens of thousands of lines, which take seconds to render: beyond this, they are shown on request. */
const SHOWN = 1000;
const KEY = "sandbox-agent.diff";
const split = new Value(isStored("split"));

interface Props {
  path: string;
  action: string;
  diff: string | null;
  to?: string | null;
  /** Paths below it are shown relative to it. */
  directory?: string | null;
}

export const DiffView = memo(function DiffView({ path, action, diff, to, directory = null }: Props) {
  const parsed = useMemo(() => (diff ? parsedDiff(diff) : null), [diff]);
  const [whole, setWhole] = useState(false);
  const shown = useMemo(
    () => (parsed && !whole && parsed.lines.length > SHOWN * 1.2 ? { ...parsed, lines: parsed.lines.slice(0, SHOWN) } : parsed),
    [parsed, whole],
  );
  const colours = useColours(shown, to ?? path);
  const wanted = useObserved(split);
  const choose = (value: boolean) => {
    split.set(value);
    try {
      localStorage.setItem(KEY, value ? "split" : "unified");
    } catch {
      // This page still remembers.
    }
  };
  return (
    <figure className="sa-diff">
      <figcaption>
        <Icon name="file" size={14} />
        <span className="sa-diff-path" title={path}>
          {exact(withoutDirectory(path, directory))}
          {to && <> → {exact(withoutDirectory(to, directory))}</>}
        </span>
        {parsed ? <DiffCounts diff={parsed} /> : <span className="sa-faint">{action}</span>}
        {parsed && (
          <span className="sa-segmented" role="group" aria-label="How to show the change">
            <button type="button" aria-pressed={!wanted} onClick={() => choose(false)}>
              Unified
            </button>
            <button type="button" aria-pressed={wanted} onClick={() => choose(true)}>
              Split
            </button>
          </span>
        )}
        {diff && <CopyButton text={diff} label="Copy the diff" />}
      </figcaption>
      {shown && shown.lines.length > 0 && (
        <div className="sa-diff-body" tabIndex={0} role="region" aria-label={`Change of ${path}`}>
          {wanted ? <Split diff={shown} colours={colours} /> : <Unified diff={shown} colours={colours} />}
          {parsed && shown !== parsed && (
            <Button look="quiet" small onClick={() => setWhole(true)}>
              Show the other {count(parsed.lines.length - shown.lines.length)} lines
            </Button>
          )}
        </div>
      )}
    </figure>
  );
});

export function DiffCounts({ diff }: { diff: Pick<Diff, "added" | "removed"> }) {
  return (
    <span className="sa-diff-counts">
      <span className="sa-good-text">+{diff.added}</span> <span className="sa-bad-text">−{diff.removed}</span>
    </span>
  );
}

type Colours = ReadonlyMap<DiffLine, readonly Token[]>;

/** The tokens of each line. Each side is highlighted as a whole, because a comment may have begun lines before. */
function useColours(diff: Diff | null, path: string): Colours {
  const sides = useMemo(() => {
    const lines = diff?.lines.filter((line) => line.kind !== "hunk") ?? [];
    return [lines.filter((line) => line.kind !== "removed"), lines.filter((line) => line.kind !== "added")] as const;
  }, [diff]);
  const [after, before] = sides.map((lines) => lines.map((line) => withoutReturn(line.text)).join("\n")) as [string, string];
  const language = languageOf(path);
  const newTokens = useTokens(after, language);
  const oldTokens = useTokens(before, language);
  return useMemo(() => {
    const colours = new Map<DiffLine, readonly Token[]>();
    // Unchanged lines get the colours of the new side.
    for (const [tokens, lines] of [[oldTokens, sides[1]] as const, [newTokens, sides[0]] as const]) {
      const coloured = tokens ? linesOf(tokens) : [];
      lines.forEach((line, index) => coloured[index] && colours.set(line, coloured[index]));
    }
    return colours;
  }, [sides, newTokens, oldTokens]);
}

function Unified({ diff, colours }: { diff: Diff; colours: Colours }) {
  return (
    <table className="sa-diff-table">
      <tbody>
        {diff.lines.map((line, index) =>
          line.kind === "hunk" ? (
            <tr key={index} className="sa-hunk">
              <td colSpan={4}>{line.text}</td>
            </tr>
          ) : (
            <tr key={index} className={`sa-${line.kind}`}>
              <td className="sa-line-number">{line.old}</td>
              <td className="sa-line-number">{line.new}</td>
              <td className="sa-sign">{SIGNS[line.kind]}</td>
              <td className="sa-line-text">{lineText(line, colours)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

const SIGNS = { same: "", added: "+", removed: "−" } as const;

function Split({ diff, colours }: { diff: Diff; colours: Colours }) {
  const pairs = useMemo(() => sideBySide(diff), [diff]);
  return (
    <table className="sa-diff-table sa-split">
      <colgroup>
        <col className="sa-number-column" />
        <col />
        <col className="sa-number-column" />
        <col />
      </colgroup>
      <tbody>
        {pairs.map((pair, index) =>
          pair.hunk !== null ? (
            <tr key={index} className="sa-hunk">
              <td colSpan={4}>{pair.hunk}</td>
            </tr>
          ) : (
            <tr key={index}>
              <Half line={pair.left} number="old" colours={colours} />
              <Half line={pair.right} number="new" colours={colours} />
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function Half({ line, number, colours }: { line: DiffLine | null; number: "old" | "new"; colours: Colours }) {
  if (!line || line.kind === "hunk") return <td colSpan={2} className="sa-nothing" />;
  return (
    <>
      <td className={`sa-line-number sa-${line.kind}`}>{line[number]}</td>
      <td className={`sa-line-text sa-${line.kind}`}>{lineText(line, colours)}</td>
    </>
  );
}

function lineText(line: DiffLine, colours: Colours) {
  return drawnTokens(colours.get(line) ?? [{ text: withoutReturn(line.text), look: "" }]);
}

/** In a file with Windows line endings every line has the character: not worth marking. */
function withoutReturn(text: string): string {
  return text.replace(/\r$/, "");
}

function isStored(choice: string): boolean {
  try {
    return localStorage.getItem(KEY) === choice;
  } catch {
    // No storage, or rendered on a server.
    return false;
  }
}
