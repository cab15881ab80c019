/** An installation and its progress. */
import { bytes } from "chat/parts/format";
import type { Operations, Progress as Step } from "sandbox-agentd";

export interface Progress {
  readonly words: string;
  /** Progress of the step, from 0 to 1; null if unknown. */
  readonly part: number | null;
}

export async function install(client: Operations, agent: string, onProgress: (progress: Progress) => void): Promise<void> {
  await client.installAgent(agent, {}, { onProgress: (step) => onProgress(progressOf(step)) });
}

function progressOf(step: Step): Progress {
  const stage = step.stage.charAt(0).toUpperCase() + step.stage.slice(1);
  const from = step.source ? ` (${step.source})` : "";
  if (step.stage !== "downloading") return { words: `${stage}${from}…`, part: null };
  const { bytes: done = 0, total } = step;
  const words = total ? `${stage} ${bytes(done)} of ${bytes(total)}${from}` : `${stage} ${bytes(done)}${from}`;
  return { words, part: total ? done / total : null };
}
