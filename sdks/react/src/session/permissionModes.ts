/** Labels for what an agent may do without asking. */
import type { SessionInfo } from "sandbox-agentd";

export type PermissionMode = SessionInfo["permissionMode"];

export interface ModeWords {
  readonly mode: PermissionMode;
  readonly name: string;
  readonly meaning: string;
}

export const PERMISSION_MODES: readonly ModeWords[] = [
  { mode: "default", name: "Ask first", meaning: "The agent asks before it changes a file or runs a command" },
  { mode: "acceptEdits", name: "Accept edits", meaning: "Edits files in its directory without asking; asks before it runs commands" },
  { mode: "plan", name: "Plan", meaning: "Read-only until you approve a plan" },
  { mode: "bypass", name: "Allow everything", meaning: "The agent never asks" },
];
