/** How much of a program's output an error repeats. */
export const SHOWN_LINES = 15;

export function lastLines(output: string): string {
  return output.trim().split("\n").slice(-SHOWN_LINES).join("\n");
}
