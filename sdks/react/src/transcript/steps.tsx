/** The steps of a plan or a todo list. */
import { planOf, type PlanStep } from "sandbox-agentd";
import { Icon } from "../parts/icon.js";
import { asRecord } from "./record.js";

export function Steps({ steps }: { steps: readonly PlanStep[] }) {
  return (
    <ol className="sa-steps">
      {steps.map((step, index) => (
        <li key={index} className={`sa-${step.status}`}>
          <span className="sa-step-mark">
            {step.status === "completed" && <Icon name="check" size={12} />}
          </span>
          <span>
            {step.text}
            <span className="sa-offscreen"> ({step.status.replace("_", " ")})</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The plan in a status item's data, or in the arguments of a call that makes one. */
export function planSteps(data: unknown): readonly PlanStep[] {
  const fields = asRecord(data);
  return fields ? planOf(fields) : [];
}
