/** The coverage matrix as a page in Markdown (docs/coverage.md): what each agent has shown in the tests that drive it. */

export type Outcome = "yes" | "no" | "fails" | "not tried";

export interface Feature {
  readonly title: string;
  readonly outcome: Outcome;
  /** Why an agent cannot do it. */
  readonly reason: string;
}

export interface Coverage {
  readonly testedVersion: string;
  readonly stability: string;
  readonly features: readonly Feature[];
}

/** The columns of the matrix by the agents' ids. */
export function readCoverage(page: string): ReadonlyMap<string, Coverage> {
  const lines = page.split("\n");
  const [agents = [], , versions = [], stabilities = [], ...rows] = lines.filter((line) => line.startsWith("| ")).map(cells);
  const reasonOf = (agent: string, feature: string) => {
    const start = `- ${agent}, ${feature}: `;
    return lines.find((line) => line.startsWith(start))?.slice(start.length) ?? "";
  };
  const column = (agent: string, at: number): Coverage => ({
    testedVersion: versions[at] ?? "",
    stability: stabilities[at] ?? "",
    features: rows.map((row) => {
      const title = row[0] ?? "";
      return { title, outcome: outcomeOf(row[at]), reason: reasonOf(agent, title) };
    }),
  });
  return new Map(agents.map((agent, at) => [idOf(agent), column(agent, at)] as const).slice(1));
}

function cells(line: string): string[] {
  return line.split("|").slice(1, -1).map((cell) => cell.trim());
}

/** A title begins with the agent's id: `Claude Code`, `claude-acp (ACP)`. */
function idOf(title: string): string {
  return title.split(" ", 1)[0]!.toLowerCase();
}

function outcomeOf(cell: string | undefined): Outcome {
  return cell === "yes" || cell === "no" || cell === "fails" ? cell : "not tried";
}
