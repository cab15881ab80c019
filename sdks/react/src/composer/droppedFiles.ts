/** Files that are dropped anywhere on the page: beside the message, the browser would open them in place of the page. */
import { useEffect, useRef } from "react";

export function useDroppedFiles(onFiles: (files: FileList) => void): void {
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (event.type === "drop") latest.current(event.dataTransfer.files);
    };
    window.addEventListener("dragover", onDrag);
    window.addEventListener("drop", onDrag);
    return () => {
      window.removeEventListener("dragover", onDrag);
      window.removeEventListener("drop", onDrag);
    };
  }, []);
}
