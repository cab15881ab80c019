/** Buttons: quiet by default, at most one primary in a place. An icon button has its name as label and tooltip. */
import type { ButtonHTMLAttributes, Ref } from "react";
import { Icon, type IconName } from "./icon.js";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "quiet" | "plain" | "primary" | "danger";
  icon?: IconName;
  small?: boolean;
  /** The keyboard shortcut. */
  keys?: string;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "plain", icon, small, keys, className = "", children, ...rest }: Props) {
  return (
    <button type="button" className={`sa-button sa-${look} ${small ? "sa-small" : ""} ${className}`} {...rest}>
      {icon && <Icon name={icon} size={small ? 14 : 16} />}
      {children && <span>{children}</span>}
      {keys && <kbd>{keys}</kbd>}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  label: string;
  size?: number;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, size, className = "", ...rest }: IconButtonProps) {
  return (
    <button type="button" className={`sa-icon-button ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} size={size} />
    </button>
  );
}
