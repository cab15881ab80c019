/** The coverage matrix, read from the page that the tests of the real agents write. */
import { expect, test } from "vitest";
import page from "../../docs/compatibility.mdx?raw";
import { readCoverage } from "../src/debug/coverage";

const SMALL = `# Coverage

A sentence | with a bar.

| Feature | Claude Code | Their Own (ACP) |
| --- | --- | --- |
| Name | \`claude\` | \`own-acp\` |
| Tested version | 2.1 | 0.9 |
| Stability | stable | experimental |
| Text | yes | fails |
| Model error: 500 | no |  |

## What an agent cannot do, and why

- Claude Code, Model error: 500: it tries again:
  \`turnTimeoutMs\` ends it
`;

test("each agent has its column, and a gap its reason", () => {
  expect(Object.fromEntries(readCoverage(SMALL))).toEqual({
    claude: {
      testedVersion: "2.1",
      stability: "stable",
      features: [
        { title: "Text", outcome: "yes", reason: "" },
        { title: "Model error: 500", outcome: "no", reason: "it tries again: `turnTimeoutMs` ends it" },
      ],
    },
    "own-acp": {
      testedVersion: "0.9",
      stability: "experimental",
      features: [
        { title: "Text", outcome: "fails", reason: "" },
        { title: "Model error: 500", outcome: "not tried", reason: "" },
      ],
    },
  });
});

test("in the real matrix exactly the gaps have a reason", () => {
  const matrix = readCoverage(page);
  expect([...matrix.keys()]).toContain("claude");
  for (const { features } of matrix.values())
    for (const { outcome, reason } of features) expect(reason !== "").toBe(outcome === "no");
});

test("a page without a matrix has no agents", () => {
  expect([...readCoverage("# Coverage\n").keys()]).toEqual([]);
});
