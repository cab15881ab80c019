/** An error as text. */
import { DaemonUnreachable } from "sandbox-agentd";

export function sayWhy(error: unknown): string {
  if (error instanceof DaemonUnreachable) return "the daemon does not answer";
  return error instanceof Error ? error.message : String(error);
}
