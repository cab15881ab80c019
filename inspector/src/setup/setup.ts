/** What a session was given: its MCP servers, skills and rules. */
import { type Daemon, sessionPath } from "../daemon/daemon";
import type { ListedRule, McpServerInfo, McpServerList, PolicyList, Skill, SkillList } from "../daemon/types";

export interface Setup {
  readonly servers: readonly McpServerInfo[];
  readonly skills: readonly Skill[];
  readonly rules: readonly ListedRule[];
}

export async function loadSetup(daemon: Daemon, sessionId: string): Promise<Setup> {
  const [{ servers }, { skills }, { rules }] = await Promise.all([
    daemon.get<McpServerList>(sessionPath(sessionId, "mcp")),
    daemon.get<SkillList>(sessionPath(sessionId, "skills")),
    daemon.get<PolicyList>(sessionPath(sessionId, "policy")),
  ]);
  return { servers, skills, rules };
}
