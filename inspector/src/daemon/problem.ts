/** Why a request did not work: the daemon refused it, or nobody answered. */

const URN = "urn:sandbox-agent:error:";

export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  [fact: string]: unknown;
}

/** The daemon answered, with a problem (RFC 9457). */
export class Refused extends Error {
  constructor(readonly problem: ProblemDetails) {
    super(problem.detail || problem.title);
  }

  get status(): number {
    return this.problem.status;
  }

  /** The problem's own name, e.g. `session_not_found`. */
  get type(): string {
    return this.problem.type.replace(URN, "");
  }
}

/** Nobody answered, or the browser does not let us see the answer. */
export class Unreachable extends Error {}

/** A failed response as an error, also when something other than the daemon sent it. */
export async function refusalOf(response: Response): Promise<Refused> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as ProblemDetails;
    if (typeof problem.type === "string") return new Refused(problem);
  } catch {
    // Not JSON: a proxy, perhaps.
  }
  const title = response.statusText || `HTTP ${response.status}`;
  return new Refused({ type: "about:blank", title, status: response.status, detail: text.slice(0, 300) || title });
}

export function sayWhy(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
