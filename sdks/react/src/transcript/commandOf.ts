/** The full command of a call that runs one: a title may be shortened. */
import type { ToolEntry } from "sandbox-agentd";
import { asRecord } from "./record.js";

export function commandOf({ toolKind, input }: Pick<ToolEntry, "toolKind" | "input">): string | null {
  if (toolKind !== "command") return null;
  const fields = asRecord(input);
  const command = fields?.command ?? fields?.cmd;
  if (typeof command === "string") return command;
  return Array.isArray(command) ? command.join(" ") : null;
}
