/** A few words about something that went wrong, or that one should know. */
import type { ReactNode } from "react";
import { Icon } from "./icon.js";

export function Notice({ tone = "bad", children }: { tone?: "bad" | "warn" | "calm"; children: ReactNode }) {
  return (
    <div className={`notice ${tone}`} role={tone === "bad" ? "alert" : "note"}>
      <Icon name="alert" />
      <div>{children}</div>
    </div>
  );
}
