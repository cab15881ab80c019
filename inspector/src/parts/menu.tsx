/** A small menu behind a button; closes on a choice, on Escape and on a click elsewhere. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { IconButton } from "chat/parts/button";
import { Icon, type IconName } from "chat/parts/icon";

export interface MenuItem {
  readonly label: string;
  readonly icon: IconName;
  readonly onChoose: () => void;
  readonly danger?: boolean;
  readonly disabled?: boolean;
}

export function Menu({ label, items, head }: { label: string; items: readonly MenuItem[]; head?: ReactNode }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLButtonElement>("[role=menuitem]:enabled")?.focus();
    const outside = (event: MouseEvent) => !box.current?.contains(event.target as Node) && setOpen(false);
    document.addEventListener("mousedown", outside);
    return () => document.removeEventListener("mousedown", outside);
  }, [open]);
  /** Return focus to the button, so that it is also restored after a dialog opened from here. */
  const close = () => {
    box.current?.querySelector("button")?.focus();
    setOpen(false);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (!open) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    }
    // Move on to what follows the menu, not through it.
    if (event.key === "Tab") close();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const all = [...(box.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]:enabled") ?? [])];
      const at = all.indexOf(document.activeElement as HTMLButtonElement);
      all[(at + (event.key === "ArrowDown" ? 1 : all.length - 1)) % all.length]?.focus();
    }
  };
  return (
    <div className="menu" ref={box} onKeyDown={onKeyDown}>
      <IconButton icon="dots" label={label} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)} />
      {open && (
        <div className="menuList" role="menu">
          {head}
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              disabled={item.disabled}
              className={item.danger ? "menuItem danger" : "menuItem"}
              onClick={() => {
                close();
                item.onChoose();
              }}
            >
              <Icon name={item.icon} />
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
