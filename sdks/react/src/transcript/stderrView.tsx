/** An agent's stderr before it exited: all of it, or its beginning and end. */
import type { Stderr } from "sandbox-agentd";
import { Terminal } from "./terminal.js";

export function StderrView({ stderr }: { stderr: Stderr }) {
  const gap = stderr.truncated && stderr.tail ? `\n… ${stderr.total_lines ?? "many"} lines in all …\n` : "";
  const text = [stderr.head, stderr.tail].filter(Boolean).join(gap || "\n");
  return text ? <Terminal text={text} label="Standard error" /> : null;
}
