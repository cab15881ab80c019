/** MCP servers as a person types them: the JSON object that many agents' settings use. */
import type { McpServer } from "../daemon/types";

export function parsedMcp(text: string): Record<string, McpServer> | null {
  if (!text.trim()) return null;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Error(`The MCP servers are not JSON: ${(error as Error).message}`);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error("The MCP servers must be an object: name to server.");
  // People paste whole settings files.
  const servers = "mcpServers" in given ? given.mcpServers : given;
  return servers as Record<string, McpServer>;
}
