/** The optional settings of a new session, as entered in the form. */
import { type ServerDraft, serversOf } from "./mcp";
import { type Pair, recordOf } from "./pairsForm";
import { type RuleDraft, rulesOf } from "./rules";
import { type SourceDraft, sourcesOf } from "./skills";

export interface Extras {
  readonly servers: readonly ServerDraft[];
  readonly sources: readonly SourceDraft[];
  readonly rules: readonly RuleDraft[];
  readonly variables: readonly Pair[];
  /** Whether the agent may use the desktop. */
  readonly desktop: boolean;
}

export const NO_EXTRAS: Extras = { servers: [], sources: [], rules: [], variables: [], desktop: false };

/** Their part of the create request; empty values are left out. */
export function requestOf({ servers, sources, rules, variables, desktop }: Extras): object {
  return {
    ...(servers.length > 0 && { mcp: serversOf(servers) }),
    ...(sources.length > 0 && { skills: { sources: sourcesOf(sources) } }),
    ...(rules.length > 0 && { policy: rulesOf(rules) }),
    ...(variables.length > 0 && { env: recordOf(variables) }),
    ...(desktop && { desktop }),
  };
}
