/** One agent's column of the coverage matrix: what its tests have shown, and why something is missing. */
import page from "../../../docs/compatibility.mdx?raw";
import { Icon } from "chat/parts/icon";
import { type Feature, readCoverage } from "./coverage";

const MATRIX = readCoverage(page);

export function AgentCoverage({ agent }: { agent: string }) {
  const coverage = MATRIX.get(agent);
  if (!coverage) return <p className="coverageNone">{agent} is not in the coverage matrix</p>;
  const { features, stability, testedVersion } = coverage;
  const shown = features.filter((feature) => feature.outcome === "yes").length;
  return (
    <details className="coverage">
      <summary>
        Coverage: {shown} of {features.length} features
      </summary>
      <p className="sa-faint">
        Tested with {testedVersion} · {stability}
      </p>
      <ul aria-label={`Coverage of ${agent}`}>
        {features.map((feature) => (
          <FeatureLine key={feature.title} feature={feature} />
        ))}
      </ul>
    </details>
  );
}

function FeatureLine({ feature: { title, outcome, reason } }: { feature: Feature }) {
  if (outcome === "yes")
    return (
      <li>
        <span className="coverageMark good">
          <Icon name="check" size={13} />
        </span>
        <span>
          {title}
          <span className="sa-offscreen">: yes</span>
        </span>
      </li>
    );
  return (
    <li>
      <span className="coverageMark">
        <Icon name="cross" size={13} />
      </span>
      <span>
        {title}: {outcome}
        {reason && <span className="coverageReason">{withCode(reason)}</span>}
      </span>
    </li>
  );
}

/** Renders text between backticks as code. */
function withCode(text: string) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
