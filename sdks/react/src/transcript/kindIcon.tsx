/** An icon for what a tool does, with a tooltip. */
import type { ToolKind } from "sandbox-agentd";
import { Icon, type IconName } from "../parts/icon.js";

const ICONS: Readonly<Record<ToolKind, IconName>> = {
  command: "terminal",
  edit: "edit",
  read: "file",
  search: "search",
  fetch: "globe",
  mcp: "plug",
  task: "robot",
  other: "bolt",
};

export function KindIcon({ kind }: { kind: ToolKind }) {
  return (
    <span className="sa-kind-icon" title={kind}>
      {/* A newer daemon may know more kinds. */}
      <Icon name={ICONS[kind] ?? ICONS.other} size={14} />
    </span>
  );
}
