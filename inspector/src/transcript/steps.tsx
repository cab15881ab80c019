/** The steps of a plan or a todo list. */
import type { PlanStep } from "sdk/transcript";
import { Icon } from "../parts/icon";
import { asRecord } from "./record";

export function Steps({ steps }: { steps: readonly PlanStep[] }) {
  return (
    <ol className="steps">
      {steps.map((step, index) => (
        <li key={index} className={step.status}>
          <span className="stepMark">
            {step.status === "completed" && <Icon name="check" size={12} />}
            {step.status === "cancelled" && <Icon name="cross" size={12} />}
          </span>
          <span>
            {step.text}
            <span className="offscreen"> ({step.status.replace("_", " ")})</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The todo list in a call's arguments or a status item's data; agents name its members differently. */
export function planSteps(data: unknown): PlanStep[] {
  const fields = asRecord(data);
  const found = [fields?.todos, fields?.plan, fields?.entries].find(Array.isArray) ?? [];
  return found.flatMap((each: unknown) => {
    const step = asRecord(each);
    const text = step?.content ?? step?.step ?? step?.text;
    return typeof text === "string" ? [{ text, status: stepStatus(step?.status) }] : [];
  });
}

function stepStatus(native: unknown): PlanStep["status"] {
  const word = String(native ?? "").replace(/[_-]/g, "").toLowerCase();
  if (word === "inprogress") return "in_progress";
  if (word === "completed" || word === "done") return "completed";
  return word.startsWith("cancel") ? "cancelled" : "pending";
}
