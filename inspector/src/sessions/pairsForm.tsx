/** Names and values, one pair per line. */
import { Button, IconButton } from "chat/parts/button";

export type Pair = readonly [name: string, value: string];

interface Props {
  pairs: readonly Pair[];
  onChange: (pairs: readonly Pair[]) => void;
  /** What each entry is, e.g. `Variable`. */
  of: string;
}

export function PairsForm({ pairs, onChange, of }: Props) {
  const set = (at: number, pair: Pair) => onChange(pairs.map((old, index) => (index === at ? pair : old)));
  return (
    <div className="pairs">
      {pairs.map(([name, value], at) => (
        <div key={at} className="pair">
          <input aria-label={`${of} ${at + 1}: name`} placeholder="NAME" value={name} onChange={(event) => set(at, [event.target.value, value])} spellCheck={false} autoComplete="off" />
          <input aria-label={`${of} ${at + 1}: value`} placeholder="value" value={value} onChange={(event) => set(at, [name, event.target.value])} spellCheck={false} autoComplete="off" />
          <IconButton icon="close" size={14} label={`Remove ${of.toLowerCase()} ${at + 1}`} onClick={() => onChange(pairs.filter((_, index) => index !== at))} />
        </div>
      ))}
      <Button small icon="plus" onClick={() => onChange([...pairs, ["", ""]])}>
        Add a {of.toLowerCase()}
      </Button>
    </div>
  );
}

/** Lines without a name are left out. */
export function recordOf(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(pairs.map(([name, value]) => [name.trim(), value]).filter(([name]) => name));
}
