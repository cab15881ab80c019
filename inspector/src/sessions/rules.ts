/** Rules as a person fills them in, as the daemon wants them, and in words. */
import type { PolicyRule } from "../daemon/types";

type Effect = PolicyRule["effect"];
type Kind = NonNullable<PolicyRule["kind"]>;

export interface RuleDraft {
  readonly effect: Effect;
  /** Empty for tools of every kind. */
  readonly kind: Kind | "";
  /** Empty for everything of the kind. */
  readonly pattern: string;
  readonly reason: string;
}

export const NO_RULE: RuleDraft = { effect: "deny", kind: "command", pattern: "", reason: "" };
export const EFFECTS: readonly Effect[] = ["allow", "ask", "deny"];

/** What a pattern is compared with, and an example of one. */
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
