/** Saves content as a file through the browser. */
export function saveFile(name: string, parts: string[], type: string): void {
  saveBlob(name, new Blob(parts, { type }));
}

export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
