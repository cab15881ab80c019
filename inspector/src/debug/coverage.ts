/** Reads the coverage matrix from its Markdown page (docs/compatibility.mdx): what each agent has shown in its tests. */

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

/** The columns of the matrix, by agent id. */
export function readCoverage(page: string): ReadonlyMap<string, Coverage> {
  const lines = page.replaceAll("\n  ", " ").split("\n"); // long reasons are wrapped
  const [titles = [], , names = [], versions = [], stabilities = [], ...rows] = lines.filter((line) => line.startsWith("| ")).map(cells);
  const reasonOf = (title: string, feature: string) => {
    const start = `- ${title}, ${feature}: `;
    return lines.find((line) => line.startsWith(start))?.slice(start.length) ?? "";
  };
  const column = (at: number): Coverage => ({
    testedVersion: versions[at] ?? "",
    stability: stabilities[at] ?? "",
    features: rows.map((row) => {
      const title = row[0] ?? "";
      return { title, outcome: outcomeOf(row[at]), reason: reasonOf(titles[at] ?? "", title) };
    }),
  });
  return new Map(names.map((name, at) => [name.replaceAll("`", ""), column(at)] as const).slice(1));
}

function cells(line: string): string[] {
  return line.split("|").slice(1, -1).map((cell) => cell.trim());
}

function outcomeOf(cell: string | undefined): Outcome {
  return cell === "yes" || cell === "no" || cell === "fails" ? cell : "not tried";
}
