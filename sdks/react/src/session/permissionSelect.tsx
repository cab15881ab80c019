/** Selects what the agent may do without asking. The mode that never asks is red. */
import { PERMISSION_MODES, type PermissionMode } from "./permissionModes.js";

interface Props {
  value: PermissionMode;
  onChange: (mode: PermissionMode) => void;
  label?: string;
  name?: string;
  className?: string;
}

export function PermissionSelect({ value, onChange, label, name, className = "" }: Props) {
  const chosen = PERMISSION_MODES.find(({ mode }) => mode === value);
  return (
    <select
      name={name}
      className={`${className} ${value === "bypass" ? "sa-dangerous" : ""}`}
      aria-label={label}
      title={chosen?.meaning}
      value={value}
      onChange={(event) => onChange(event.target.value as PermissionMode)}
    >
      {PERMISSION_MODES.map((words) => (
        <option key={words.mode} value={words.mode} title={words.meaning} className={words.mode === "bypass" ? "sa-dangerous" : undefined}>
          {words.name}
        </option>
      ))}
    </select>
  );
}
