/** Todo lists: `{entries: [{text, status}]}`, and the words that logs of older daemons have for them. */
import type { PlanStep } from "./entries.js";

export function planOf(data: Record<string, unknown>): readonly PlanStep[] {
  const steps = [data.entries, data.plan, data.todos].find(Array.isArray) ?? [];
  return steps.filter(isRecord).flatMap((step) => {
    const text = step.text ?? step.step ?? step.content;
    return typeof text === "string" ? [{ text, status: statusOf(step.status) }] : [];
  });
}

function statusOf(told: unknown): PlanStep["status"] {
  if (told === "completed") return "completed";
  return told === "in_progress" || told === "inProgress" ? "in_progress" : "pending";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
