/** Todo lists: `{entries: [{text, status}]}`, and the names that older daemons used for them. */
import type { PlanStep } from "./entries.js";

export function planOf(data: Record<string, unknown>): readonly PlanStep[] {
  const steps = [data.entries, data.plan, data.todos].find(Array.isArray) ?? [];
  return steps.filter(isRecord).flatMap((step) => {
    const text = step.text ?? step.step ?? step.content;
    return typeof text === "string" ? [{ text, status: statusOf(step.status) }] : [];
  });
}

function statusOf(status: unknown): PlanStep["status"] {
  if (status === "completed") return "completed";
  return status === "in_progress" || status === "inProgress" ? "in_progress" : "pending";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
