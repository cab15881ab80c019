/** An installation, followed step by step: frames named `progress`, then `result` or `problem`. */
import type { Daemon } from "../daemon/daemon";
import { type ProblemDetails, Refused } from "../daemon/problem";
import { frames } from "../daemon/sse";
import { bytes } from "chat/parts/format";

export interface Progress {
  readonly words: string;
  /** How much of the step is done, from 0 to 1; null where nobody knows. */
  readonly part: number | null;
}

interface Step {
  stage: string;
  source?: string;
  file?: string;
  bytes?: number;
  total?: number | null;
  reason?: string;
}

export async function install(daemon: Daemon, agent: string, onProgress: (progress: Progress) => void): Promise<void> {
  const path = `/v1/agents/${encodeURIComponent(agent)}/install`;
  const answer = await daemon.open(path, { method: "POST", body: {} });
  // One that is there already, or a daemon that does not tell steps, answers at once.
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream") || !answer.body) return;
  for await (const batch of frames(answer.body)) {
    for (const frame of batch) {
      if (frame.event === "result") return;
      if (frame.event === "problem") throw new Refused(JSON.parse(frame.data) as ProblemDetails);
      if (frame.event === "progress") onProgress(told(JSON.parse(frame.data) as Step));
    }
  }
}

function told(step: Step): Progress {
  const stage = step.stage.charAt(0).toUpperCase() + step.stage.slice(1);
  const from = step.source ? ` (${step.source})` : "";
  if (step.stage !== "downloading") return { words: `${stage}${from}…`, part: null };
  const { bytes: done = 0, total } = step;
  const words = total ? `${stage} ${bytes(done)} of ${bytes(total)}${from}` : `${stage} ${bytes(done)}${from}`;
  return { words, part: total ? done / total : null };
}
