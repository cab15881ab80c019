/**
 * A modal dialog, using the browser's own for focus, Escape and the backdrop. Focus starts at the element marked with
 * `data-first`; the browser would start at the close button.
 */
import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from "react";
import { IconButton } from "chat/parts/button";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, wide }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  // Not in a later effect: focus returns to its old place only from a dialog that is still in the document.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => dialog?.close();
  }, []);
  const onMouseDown = (event: MouseEvent) => {
    if (event.target === ref.current && isOutside(ref.current, event)) onClose();
  };
  return (
    <dialog
      ref={ref}
      className={wide ? "dialog wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={onMouseDown}
    >
      <div className="dialogBox">
        <header>
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** A click on the backdrop or the scrollbar targets the dialog itself: only the position tells them apart. */
function isOutside(dialog: HTMLElement, { clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}
