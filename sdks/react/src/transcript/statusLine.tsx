/** A fact about the session, in one quiet line; a plan is shown as a list. */
import type { StatusEntry } from "sandbox-agentd";
import { pretty } from "../parts/format.js";
import { Foldable, type Fold } from "./foldable.js";
import { Json } from "./json.js";
import { asRecord } from "./record.js";
import { planSteps, Steps } from "./steps.js";

export function StatusLine({ entry, ...fold }: { entry: StatusEntry } & Fold) {
  const steps = entry.label === "plan" ? planSteps(entry.data) : [];
  if (steps.length > 0) {
    return (
      <section className="sa-plan-status" aria-label="Plan">
        <Steps steps={steps} />
      </section>
    );
  }
  return (
    <Foldable
      className="sa-status"
      {...fold}
      line={
        <>
          <span className="sa-status-label">{entry.label.replaceAll("_", " ")}</span>
          <span className="sa-fold-summary">{summary(entry)}</span>
        </>
      }
    >
      <Json label={entry.label} text={pretty(entry.data)} />
    </Foldable>
  );
}

function summary(entry: StatusEntry): string {
  if (entry.detail) return entry.detail;
  const data = asRecord(entry.data);
  for (const name of ["title", "text", "content", "message", "subtype", "status", "state", "model"]) {
    const value = data?.[name];
    if (typeof value === "string") return value;
  }
  return "";
}
