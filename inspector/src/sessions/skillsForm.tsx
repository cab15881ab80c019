/** Where a session's skills come from, one source per line. */
import { Button, IconButton } from "chat/parts/button";
import { NO_SOURCE, type SourceDraft } from "./skills";

const TYPES: Readonly<Record<SourceDraft["type"], readonly [name: string, example: string]>> = {
  local: ["Folder", "/srv/skills"],
  github: ["GitHub", "owner/name"],
  git: ["Git URL", "https://host/skills.git"],
};

interface Props {
  sources: readonly SourceDraft[];
  onChange: (sources: readonly SourceDraft[]) => void;
}

export function SkillsForm({ sources, onChange }: Props) {
  const set = (at: number, change: Partial<SourceDraft>) => onChange(sources.map((old, index) => (index === at ? { ...old, ...change } : old)));
  return (
    <div className="pairs">
      {sources.map(({ type, source, ref }, at) => (
        <fieldset key={at} className="draft">
          <legend className="sa-offscreen">Source {at + 1}</legend>
          <select aria-label="Type of the source" value={type} onChange={(event) => set(at, { type: event.target.value as SourceDraft["type"] })}>
            {Object.entries(TYPES).map(([id, [name]]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <input aria-label="Source" placeholder={TYPES[type][1]} value={source} onChange={(event) => set(at, { source: event.target.value })} spellCheck={false} />
          {type !== "local" && <input aria-label="Branch, tag or commit" placeholder="default branch" value={ref} onChange={(event) => set(at, { ref: event.target.value })} spellCheck={false} />}
          <IconButton icon="close" size={14} label={`Remove source ${at + 1}`} onClick={() => onChange(sources.filter((_, index) => index !== at))} />
        </fieldset>
      ))}
      <Button small icon="plus" onClick={() => onChange([...sources, NO_SOURCE])}>
        Add a source
      </Button>
    </div>
  );
}
