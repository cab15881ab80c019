/** Keeps focus near where it was when the element that has it disappears. Browsers would drop it. */
import { type RefObject, useLayoutEffect } from "react";

/** When the element disappears with focus inside it, focus returns to where it was when the element appeared. */
export function useFocusReturn(box: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const shown = box.current;
    const before = document.activeElement;
    return () => {
      if (shown?.contains(document.activeElement) && before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, [box]);
}

/** Moves focus to the nearest focusable element around this one, which is about to be disabled or removed. */
export function stepOut(from: Element | null | undefined): void {
  from?.parentElement?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
}
