/** The agent's thinking, folded to one line that shows the latest words while it streams. */
import type { ReasoningEntry } from "sandbox-agentd";
import { duration } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { Foldable, type Fold } from "./foldable.js";
import { Markdown } from "./markdown.js";

export function Thinking({ entry, ...fold }: { entry: ReasoningEntry } & Fold) {
  const running = entry.status === "in_progress";
  const took = entry.endedAt ? Date.parse(entry.endedAt) - Date.parse(entry.time) : 0;
  return (
    <Foldable
      className="sa-thinking"
      {...fold}
      line={
        <>
          <Icon name="thought" size={14} />
          <span className={running ? "sa-fold-name sa-shimmer" : "sa-fold-name"}>{running ? "Thinking" : "Thought"}</span>
          <span className="sa-fold-summary">{fold.unfolded ? "" : lastWords(entry.text)}</span>
          {took >= 1000 && <span className="sa-fold-fact">{duration(took)}</span>}
        </>
      }
    >
      <Markdown text={entry.text} />
    </Foldable>
  );
}

function lastWords(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return line.slice(-160);
}
