/** The output of a command. The middle of a long output is hidden until requested. */
import { memo, useMemo, useState } from "react";
import { Button } from "../parts/button.js";
import { CopyButton } from "../parts/copyButton.js";
import { count } from "../parts/format.js";
import { ansiRuns, inBlocks, type Run } from "./ansi.js";

const SHOWN = 12_000;
const BLOCK_LINES = 200;

export const Terminal = memo(function Terminal({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN * 1.2;
  const runs = useMemo(() => ansiRuns(cut ? text.slice(-SHOWN) : text), [text, cut]);
  // Colours other than the sixteen standard ones are chosen for a dark background: white on white would be unreadable.
  const isDark = runs.some((run) => run.color || run.background);
  const blocks = useMemo(() => inBlocks(runs, BLOCK_LINES), [runs]);
  return (
    <div className={isDark ? "sa-terminal sa-dark" : "sa-terminal"}>
      {cut && (
        <Button look="quiet" small onClick={() => setWhole(true)}>
          Show the {count(text.length - SHOWN)} characters before
        </Button>
      )}
      <pre tabIndex={0} aria-label={label}>
        {blocks.map((block, index) => (
          <span key={index} className="sa-output-block">
            {block.map(drawn)}
          </span>
        ))}
      </pre>
      <CopyButton text={text} label="Copy the output" />
    </div>
  );
});

function drawn(run: Run, index: number) {
  const style = run.color || run.background ? { color: run.color, background: run.background } : undefined;
  return (
    <span key={index} className={run.look || undefined} style={style}>
      {run.text}
    </span>
  );
}
