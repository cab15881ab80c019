/** Dark, light, or the system's theme; stored in this browser. */
import { Value } from "chat/state/observable";

export type Theme = "auto" | "dark" | "light";
const KEY = "sandbox-agent.theme";

export const theme = new Value<Theme>((localStorage.getItem(KEY) as Theme | null) ?? "auto");

export function chooseTheme(choice: Theme): void {
  localStorage.setItem(KEY, choice);
  theme.set(choice);
  applyTheme();
}

/** The theme in effect, chosen or from the system. */
export function isLight(choice: Theme): boolean {
  return choice === "auto" ? window.matchMedia("(prefers-color-scheme: light)").matches : choice === "light";
}

export function applyTheme(): void {
  const choice = theme.snapshot;
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}
