/** Plans and todo lists: each agent has its own words for them. */
import type { PlanStep } from "./entries.js";

/** Agents name the members of a plan differently; all have a text and a status. */
export function planOf(data: Record<string, unknown>): readonly PlanStep[] {
  const steps = [data.plan, data.entries, data.todos].find(Array.isArray) ?? [];
  return steps.filter(isRecord).flatMap((step) => {
    const text = step.text ?? step.step ?? step.content;
    return typeof text === "string" ? [{ text, status: planStatus(String(step.status ?? "")) }] : [];
  });
}

function planStatus(native: string): PlanStep["status"] {
  if (/^in[_-]?progress$/i.test(native)) return "in_progress";
  if (/^(completed|done)$/i.test(native)) return "completed";
  return /^cancell?ed$/i.test(native) ? "cancelled" : "pending";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
