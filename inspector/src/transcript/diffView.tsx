/** A change to a file: counts, then the lines, unified or side by side. */
import { memo, useMemo, useState } from "react";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copyButton";
import { count } from "../parts/format";
import { Icon } from "../parts/icon";
import { Value, useObserved } from "../state/observable";
import { type Diff, type DiffLine, parsedDiff, sideBySide } from "./diff";
import { exact } from "./exact";

/** A lock file has tens of thousands of lines: so many rows take seconds to draw, and come when one wants to see them. */
const SHOWN = 1000;
const KEY = "sandbox-agent.diff";
const split = new Value(localStorage.getItem(KEY) === "split");

interface Props {
  path: string;
  action: string;
  diff: string | null;
  to?: string | null;
}

export const DiffView = memo(function DiffView({ path, action, diff, to }: Props) {
  const parsed = useMemo(() => (diff ? parsedDiff(diff) : null), [diff]);
  const [whole, setWhole] = useState(false);
  const shown = useMemo(
    () => (parsed && !whole && parsed.lines.length > SHOWN * 1.2 ? { ...parsed, lines: parsed.lines.slice(0, SHOWN) } : parsed),
    [parsed, whole],
  );
  const wanted = useObserved(split);
  const choose = (value: boolean) => {
    localStorage.setItem(KEY, value ? "split" : "unified");
    split.set(value);
  };
  return (
    <figure className="diff">
      <figcaption>
        <Icon name="file" size={14} />
        <span className="diffPath" title={path}>
          {path}
          {to && ` → ${to}`}
        </span>
        {parsed ? <DiffCounts diff={parsed} /> : <span className="faint">{action}</span>}
        {parsed && (
          <span className="segmented" role="group" aria-label="How to show the change">
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
        <div className="diffBody" tabIndex={0} role="region" aria-label={`Change of ${path}`}>
          {wanted ? <Split diff={shown} /> : <Unified diff={shown} />}
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
    <span className="diffCounts">
      <span className="goodText">+{diff.added}</span> <span className="badText">−{diff.removed}</span>
    </span>
  );
}

function Unified({ diff }: { diff: Diff }) {
  return (
    <table className="diffTable">
      <tbody>
        {diff.lines.map((line, index) =>
          line.kind === "hunk" ? (
            <tr key={index} className="hunk">
              <td colSpan={4}>{line.text}</td>
            </tr>
          ) : (
            <tr key={index} className={line.kind}>
              <td className="lineNumber">{line.old}</td>
              <td className="lineNumber">{line.new}</td>
              <td className="sign">{SIGNS[line.kind]}</td>
              <td className="lineText">{lineText(line.text)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

const SIGNS = { same: "", added: "+", removed: "−" } as const;

function Split({ diff }: { diff: Diff }) {
  const pairs = useMemo(() => sideBySide(diff), [diff]);
  return (
    <table className="diffTable split">
      <colgroup>
        <col className="numberColumn" />
        <col />
        <col className="numberColumn" />
        <col />
      </colgroup>
      <tbody>
        {pairs.map((pair, index) =>
          pair.hunk !== null ? (
            <tr key={index} className="hunk">
              <td colSpan={4}>{pair.hunk}</td>
            </tr>
          ) : (
            <tr key={index}>
              <Half line={pair.left} number="old" />
              <Half line={pair.right} number="new" />
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function Half({ line, number }: { line: DiffLine | null; number: "old" | "new" }) {
  if (!line || line.kind === "hunk") return <td colSpan={2} className="nothing" />;
  return (
    <>
      <td className={`lineNumber ${line.kind}`}>{line[number]}</td>
      <td className={`lineText ${line.kind}`}>{lineText(line.text)}</td>
    </>
  );
}

/** In a file with Windows' line ends every line has the sign: it is not worth naming. */
function lineText(text: string) {
  return exact(text.replace(/\r$/, ""));
}
