/**
 * xterm.js writes styles into the page as text, which the page's policy refuses. The build has it set the same styles
 * through the CSSOM, which the policy allows: `adopted-style` is in `src/terminal/adoptedStyle.ts`.
 */
import type { Plugin } from "vite";

const INSTEAD: readonly { text: RegExp; by: string; times: number }[] = [
  { text: /createElement\("style"\)/g, by: 'createElement("adopted-style")', times: 2 },
  { text: /(\w)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w)\};`\)/g, by: '$1.style.cssText+=$2+";"', times: 1 },
];

export function strictStyles(): Plugin {
  return {
    name: "strict-styles",
    apply: "build",
    transform: {
      filter: { id: /@xterm\/xterm\/.*\.m?js$/ },
      handler(code) {
        return INSTEAD.reduce((changed, { text, by, times }) => {
          const found = changed.match(text)?.length ?? 0;
          if (found !== times) throw new Error(`xterm.js has changed: ${text} is there ${found} times, not ${times}`);
          return changed.replace(text, by);
        }, code);
      },
    },
  };
}
