/** What a tool call does, in one line: the command, the path, the query, or else its arguments. */
import type { ToolEntry } from "sdk/transcript";
import { asRecord } from "./record";

const TELLING = ["command", "file_path", "filePath", "path", "pattern", "query", "url", "description", "subject", "prompt", "question"];

export function toolSummary(tool: Pick<ToolEntry, "input" | "arguments">): string {
  return inputSummary(tool.input) || tool.arguments.slice(0, 200);
}

export function inputSummary(input: unknown): string {
  const fields = asRecord(input);
  if (!fields) return typeof input === "string" ? firstLine(input) : "";
  for (const name of TELLING) {
    const value = fields[name];
    if (typeof value === "string" && value) return firstLine(name === "command" ? withoutShell(value) : value);
    if (name === "command" && Array.isArray(value)) return firstLine(value.join(" "));
  }
  const changed = Array.isArray(fields.changes) ? fields.changes.map((change) => asRecord(change)?.path) : [];
  if (changed.length > 0) return changed.filter((path) => typeof path === "string").join(", ");
  if (Array.isArray(fields.todos)) return `${fields.todos.length} steps`;
  if (Array.isArray(fields.questions)) return firstLine(String(asRecord(fields.questions[0])?.question ?? ""));
  return firstLine(JSON.stringify(input));
}

/** `/bin/bash -lc 'echo hi'` is `echo hi` to a reader. */
export function withoutShell(command: string): string {
  const found = /^\S*\/?(?:ba|z|da)?sh -l?c (['"])([\s\S]*)\1$/.exec(command.trim());
  return found?.[2] ?? command;
}

/** The command of a call that runs one. */
export function commandOf(input: unknown): string | null {
  const command = asRecord(input)?.command;
  if (typeof command === "string") return command;
  return Array.isArray(command) ? command.join(" ") : null;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
