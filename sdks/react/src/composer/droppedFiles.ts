/**
 * Files that are dropped on an element, or anywhere on the page: beside the message, the browser would open them in place
 * of the page.
 */
import { type RefObject, useEffect, useRef } from "react";

export function useDroppedFiles(zone: RefObject<HTMLElement | null> | null, onFiles: (files: FileList) => void): void {
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const place = zone ? zone.current : window;
    if (!place) return;
    const onDrag = (dragged: Event) => {
      const event = dragged as DragEvent;
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (event.type === "drop") latest.current(event.dataTransfer.files);
    };
    place.addEventListener("dragover", onDrag);
    place.addEventListener("drop", onDrag);
    return () => {
      place.removeEventListener("dragover", onDrag);
      place.removeEventListener("drop", onDrag);
    };
  }, [zone]);
}
