/**
 * Handles files dropped on an element, or anywhere on the page. A file dropped elsewhere would replace the page in the
 * browser.
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
