/** Rules as entered in the form, as the daemon expects them, and as text. */
import type { PolicyRule } from "sandbox-agentd";

type Effect = PolicyRule["effect"];
type Kind = NonNullable<PolicyRule["kind"]>;

export interface RuleDraft {
  readonly effect: Effect;
  /** Empty for every kind of tool. */
  readonly kind: Kind | "";
  /** Empty to match everything of the kind. */
  readonly pattern: string;
  readonly reason: string;
}

export const NO_RULE: RuleDraft = { effect: "deny", kind: "command", pattern: "", reason: "" };
export const EFFECTS: readonly Effect[] = ["allow", "ask", "deny"];

/** What each kind of pattern matches, with an example. */
export const PATTERNS: Readonly<Record<RuleDraft["kind"], readonly [field: "command" | "path" | "host" | "tool", example: string]>> = {
  "": ["path", "**/.env"],
  command: ["command", "git *"],
  edit: ["path", "src/**"],
  read: ["path", "~/.ssh"],
  search: ["path", "src/**"],
  fetch: ["host", "*.example.com"],
  mcp: ["tool", "mcp__github__*"],
  task: ["tool", "Task"],
  other: ["tool", "TodoWrite"],
};

export function rulesOf(drafts: readonly RuleDraft[]): PolicyRule[] {
  return drafts.map(({ effect, kind, pattern, reason }) => ({
    effect,
    ...(kind && { kind }),
    ...(pattern.trim() && { [PATTERNS[kind][0]]: pattern.trim() }),
    ...(reason.trim() && { reason: reason.trim() }),
  }));
}

const CONDITIONS = ["agent", "kind", "tool", "command", "path", "host"] as const;

/** What a rule is about: `kind edit, path src/**`. */
export function conditionsOf(rule: PolicyRule): string {
  const words = CONDITIONS.flatMap((name) => (rule[name] == null ? [] : [`${name} ${rule[name]}`]));
  return words.join(", ") || "everything";
}
