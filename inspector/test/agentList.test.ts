/** The list of agents. */
import type { AgentInfo, Operations } from "sandbox-agentd";
import { expect, test } from "vitest";
import { AgentList } from "../src/state/agentList";

type Answer = Awaited<ReturnType<Operations["listAgents"]>>;

test("an answer that comes late does not replace a newer one", async () => {
  const answers: ((answer: Answer) => void)[] = [];
  const listAgents = () => new Promise<Answer>((resolve) => answers.push(resolve));
  const list = new AgentList({ listAgents } as unknown as Operations);
  const reloads = [list.reload(), list.reload()];
  const answer = (index: number, installed: boolean) =>
    answers[index]?.({ agents: [{ id: "claude", installed } as AgentInfo] });
  answer(1, true);
  await reloads[1];
  answer(0, false);
  await reloads[0];
  expect(list.snapshot.agents.map((agent) => agent.installed)).toEqual([true]);
  expect(list.snapshot.loading).toBe(false);
});
