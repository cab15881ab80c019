/** The collapsible parts of the form for a new session. */
import type { ReactNode, SyntheticEvent } from "react";
import { LimitFields } from "../session/limitFields";
import type { Extras } from "./extras";
import { McpForm } from "./mcpForm";
import { PairsForm } from "./pairsForm";
import { RulesForm } from "./rulesForm";
import { SkillsForm } from "./skillsForm";

interface Props {
  extras: Extras;
  onChange: (extras: Extras) => void;
}

export function ExtrasForm({ extras, onChange }: Props) {
  const { servers, sources, rules, variables, desktop } = extras;
  return (
    <>
      <Part name="MCP servers" count={servers.length}>
        <McpForm servers={servers} onChange={(servers) => onChange({ ...extras, servers })} />
      </Part>
      <Part name="Skills" count={sources.length}>
        <SkillsForm sources={sources} onChange={(sources) => onChange({ ...extras, sources })} />
      </Part>
      <Part name="Rules" count={rules.length}>
        <p className="sa-faint">What the agent may do. The first rule that matches decides, after the operator’s rules; a rule without a pattern matches everything of its kind.</p>
        <RulesForm rules={rules} onChange={(rules) => onChange({ ...extras, rules })} />
      </Part>
      <Part name="Limits">
        <div className="formGrid">
          <LimitFields placeholder="The daemon’s own" />
        </div>
      </Part>
      <Part name="Desktop" count={desktop ? 1 : 0}>
        <label>
          <input type="checkbox" checked={desktop} onChange={(event) => onChange({ ...extras, desktop: event.target.checked })} />
          The agent may look at the desktop, and act on it when it is allowed to.
        </label>
      </Part>
      <Part name="Environment" count={variables.length}>
        <p className="sa-faint">Variables for this session’s agent only. They are stored, but never shown again.</p>
        <PairsForm pairs={variables} onChange={(variables) => onChange({ ...extras, variables })} of="Variable" />
      </Part>
    </>
  );
}

function Part({ name, count = 0, children }: { name: string; count?: number; children: ReactNode }) {
  return (
    <details className="more" onInvalidCapture={unfold}>
      <summary>
        {name}
        {count > 0 && ` (${count})`}
      </summary>
      {children}
    </details>
  );
}

/** The browser can point out an invalid field only if it is visible. */
function unfold({ currentTarget }: SyntheticEvent<HTMLDetailsElement>): void {
  currentTarget.open = true;
}
