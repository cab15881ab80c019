/** A short message about an error, or something worth knowing. */
import type { ReactNode } from "react";
import { Icon } from "./icon.js";

export function Notice({ tone = "bad", children }: { tone?: "bad" | "warn" | "calm"; children: ReactNode }) {
  return (
    <div className={`sa-notice sa-${tone}`} role={tone === "bad" ? "alert" : "note"}>
      <Icon name="alert" />
      <div>{children}</div>
    </div>
  );
}
