/** Tokens of each turn as bars, input below output. */
import type { TurnEndedEntry } from "sandbox-agentd";
import { count } from "chat/parts/format";

const [WIDTH, HEIGHT] = [360, 96];
/** More bars would be too thin to see: the latest are shown. */
const MAX_BARS = 120;

export function UsageChart({ turns }: { turns: readonly TurnEndedEntry[] }) {
  const shown = turns.slice(-MAX_BARS);
  const bars = shown.map(({ usage }) => ({ input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 }));
  const highest = Math.max(...bars.map(({ input, output }) => input + output));
  if (highest === 0) return null;
  const step = Math.min(28, WIDTH / bars.length);
  const scale = (tokens: number) => (tokens / highest) * HEIGHT;
  const label = `Tokens of the last ${bars.length} turns; at most ${count(highest)} in one`;
  return (
    <figure className="usageChart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
        {bars.map(({ input, output }, index) => {
          const [low, high] = [scale(input), scale(output)];
          const [x, width] = [index * step, Math.max(1, step - 3)];
          return (
            <g key={index}>
              <rect className="inputBar" x={x} width={width} y={HEIGHT - low} height={low} />
              <rect className="outputBar" x={x} width={width} y={HEIGHT - low - high} height={high} />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span className="inputKey">Input</span>
        <span className="outputKey">Output</span>
        <span className="sa-grow" />
        at most {count(highest)} tokens in a turn
      </figcaption>
    </figure>
  );
}
