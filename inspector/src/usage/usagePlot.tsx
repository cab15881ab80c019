/** The cost of each group, as bars; tokens if no cost is known. */
import type { UsageReport, UsageSum } from "sandbox-agentd";
import { count, money } from "chat/parts/format";
import { everyDay } from "./days";

const [WIDTH, HEIGHT] = [640, 140];
/** More bars would be too thin to see. */
const MAX_BARS = 120;

export function UsagePlot({ report }: { report: UsageReport }) {
  const costs = report.total.costUsd != null;
  const size = (row: UsageSum) => (costs ? (row.costUsd ?? 0) : tokensOf(row));
  // The latest days are shown; of other groups, the highest come first.
  const rows = report.by === "day" ? everyDay(report.rows, MAX_BARS) : report.rows.slice(0, MAX_BARS);
  const highest = Math.max(0, ...rows.map(size));
  if (highest === 0) return null;
  const write = costs ? money : count;
  const step = Math.min(48, WIDTH / rows.length);
  const label = `${costs ? "Cost" : "Tokens"} by ${report.by}; at most ${write(highest)}`;
  return (
    <figure className="usageChart usagePlot">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
        {rows.map((row, index) => {
          const height = (size(row) / highest) * HEIGHT;
          return (
            <rect key={row.key ?? ""} className="inputBar" x={index * step} width={Math.max(1, step - 3)} y={HEIGHT - height} height={height}>
              <title>{`${row.key ?? "unknown"}: ${write(size(row))}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        {costs ? "Cost" : "Tokens"}
        {report.by === "day" && ` from ${rows.at(0)?.key} to ${rows.at(-1)?.key}`}
        <span className="sa-grow" />
        at most {write(highest)}
      </figcaption>
    </figure>
  );
}

function tokensOf({ inputTokens, outputTokens }: UsageSum): number {
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}
