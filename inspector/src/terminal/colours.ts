/** The page's colours for xterm.js. */
import type { ITheme } from "@xterm/xterm";

/** In the order of the ANSI colours. */
const NAMES = [
  ["black", "brightBlack"],
  ["red", "brightRed"],
  ["green", "brightGreen"],
  ["yellow", "brightYellow"],
  ["blue", "brightBlue"],
  ["magenta", "brightMagenta"],
  ["cyan", "brightCyan"],
  ["white", "brightWhite"],
] as const;

/** The current values from the style sheets for this element. */
export function terminalTheme(element: HTMLElement): ITheme {
  const probe = element.appendChild(document.createElement("span"));
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const theme: ITheme = {
    background: colour("terminal"),
    foreground: colour("text"),
    cursor: colour("text"),
    cursorAccent: colour("terminal"),
    selectionBackground: colour("line-strong"),
  };
  for (const [index, [name, bright]] of NAMES.entries()) theme[name] = theme[bright] = colour(`ansi${index}`);
  probe.remove();
  return theme;
}
