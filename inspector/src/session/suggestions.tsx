/** Three things to try in an empty session. */
import type { Suggestion } from "chat/composer/composer";
import type { SessionInfo } from "sandbox-agentd";
import { AgentMark } from "../parts/agentMark";
import { lastPart } from "chat/parts/format";

interface Idea {
  readonly title: string;
  readonly prompt: string;
}

const IDEAS: readonly Idea[] = [
  { title: "Understand it", prompt: "Explain what this project does and how it is organised. Start with the entry points." },
  { title: "Find a problem", prompt: "Look for the bug that is most likely to affect users. Show me where it is, and do not change anything yet." },
  { title: "Improve it", prompt: "Find something that has no test and write one for it. Run it." },
];

/** The mock agent needs no key; the first word of a prompt selects what it does. */
const MOCK_IDEAS: readonly Idea[] = [
  { title: "See a bit of everything", prompt: "demo" },
  { title: "Change a file", prompt: "edit" },
  { title: "List what it can do", prompt: "help" },
];

export function Suggestions({ info, onChoose }: { info: SessionInfo; onChoose: (suggestion: Suggestion) => void }) {
  const ideas = info.agent === "mock" ? MOCK_IDEAS : IDEAS;
  return (
    <section className="suggestions" aria-label="Things to try">
      <AgentMark agent={info.agent} size={44} />
      <h3>What should {info.agent} do?</h3>
      <p className="sa-muted">
        It works in <span className="sa-mono" title={info.directory}>{lastPart(info.directory)}</span>.
      </p>
      <ul>
        {ideas.map(({ title, prompt }) => (
          <li key={title}>
            <button type="button" onClick={() => onChoose({ text: prompt })}>
              <strong>{title}</strong>
              <span>{prompt}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
