/** What a session was created with: MCP servers, skills and rules. */
import type { Operations } from "sandbox-agentd";
import type { ListedRule, McpServerInfo, Skill } from "../daemon/types";

export interface Setup {
  readonly servers: readonly McpServerInfo[];
  readonly skills: readonly Skill[];
  readonly rules: readonly ListedRule[];
}

export async function loadSetup(client: Operations, sessionId: string): Promise<Setup> {
  const [{ servers }, { skills }, { rules }] = await Promise.all([
    client.listMcpServers(sessionId),
    client.listSkills(sessionId),
    client.getPolicy(sessionId),
  ]);
  return { servers, skills, rules };
}
