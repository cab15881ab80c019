/** Fields for the limits of a session. */
import type { SessionInfo } from "sandbox-agentd";
import type { LimitName } from "../usage/limits";

type Limits = NonNullable<SessionInfo["limits"]>;

const LIMITS: readonly (readonly [LimitName, string, string])[] = [
  ["maxCostUsd", "Cost in US dollars", "any"],
  ["maxTokens", "Tokens", "1"],
  ["maxTurns", "Turns", "1"],
  ["maxTurnSeconds", "Seconds of a turn", "any"],
  ["maxSessionSeconds", "Seconds of the session", "any"],
];

interface Props {
  limits?: Limits | undefined;
  placeholder: string;
  /** The dialog's focus starts here. */
  isFirst?: boolean;
}

export function LimitFields({ limits = {}, placeholder, isFirst = false }: Props) {
  return LIMITS.map(([name, words, step], index) => (
    <label key={name}>
      <span>{words}</span>
      <input
        name={name}
        type="number"
        min={step === "1" ? 1 : 0}
        step={step}
        defaultValue={limits[name] ?? ""}
        placeholder={placeholder}
        data-first={(isFirst && index === 0) || undefined}
      />
    </label>
  ));
}

/** The values that were entered; null for empty fields. */
export function limitsIn(form: FormData): Record<LimitName, number | null> {
  return Object.fromEntries(LIMITS.map(([name]) => [name, form.get(name) ? Number(form.get(name)) : null])) as Record<LimitName, number | null>;
}
