/** Random ids. `crypto.randomUUID` is missing on pages that are served over plain HTTP; `getRandomValues` is everywhere. */
export function randomHex(bytes = 16): string {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
