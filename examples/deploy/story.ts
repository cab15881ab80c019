/** What every example must print, with the mock agent. */
import { vi } from "vitest";

export const CONVERSATION = [
  "You said: hello (message 1 of this conversation)",
  "You said: hello again (message 2 of this conversation)",
];

/** The lines that a program prints. */
export async function printedBy(program: () => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  try {
    await program();
  } finally {
    log.mockRestore();
  }
  return lines;
}
