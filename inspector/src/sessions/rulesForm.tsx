/** The rules of a session, one per line; the first that matches decides. */
import { Button, IconButton } from "chat/parts/button";
import { EFFECTS, NO_RULE, PATTERNS, type RuleDraft } from "./rules";

interface Props {
  rules: readonly RuleDraft[];
  onChange: (rules: readonly RuleDraft[]) => void;
}

export function RulesForm({ rules, onChange }: Props) {
  const set = (at: number, change: Partial<RuleDraft>) => onChange(rules.map((old, index) => (index === at ? { ...old, ...change } : old)));
  return (
    <div className="pairs">
      {rules.map(({ effect, kind, pattern, reason }, at) => (
        <fieldset key={at} className="draft">
          <legend className="sa-offscreen">Rule {at + 1}</legend>
          <select aria-label="Effect" value={effect} onChange={(event) => set(at, { effect: event.target.value as RuleDraft["effect"] })}>
            {EFFECTS.map((effect) => (
              <option key={effect}>{effect}</option>
            ))}
          </select>
          <select aria-label="Kind of tool" value={kind} onChange={(event) => set(at, { kind: event.target.value as RuleDraft["kind"] })}>
            {Object.keys(PATTERNS).map((kind) => (
              <option key={kind} value={kind}>
                {kind || "any"}
              </option>
            ))}
          </select>
          <input aria-label={`Pattern of the ${PATTERNS[kind][0]}`} placeholder={`${PATTERNS[kind][0]}, e.g. ${PATTERNS[kind][1]}`} value={pattern} onChange={(event) => set(at, { pattern: event.target.value })} spellCheck={false} />
          <input aria-label="Reason" placeholder="reason" value={reason} onChange={(event) => set(at, { reason: event.target.value })} />
          <IconButton icon="close" size={14} label={`Remove rule ${at + 1}`} onClick={() => onChange(rules.filter((_, index) => index !== at))} />
        </fieldset>
      ))}
      <Button small icon="plus" onClick={() => onChange([...rules, NO_RULE])}>
        Add a rule
      </Button>
    </div>
  );
}
