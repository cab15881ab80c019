/** MCP servers as entered in the form, and as the daemon expects them. */
import type { McpServer } from "sandbox-agentd";
import { asRecord } from "chat/transcript/record";
import { type Pair, recordOf } from "./pairsForm";

export interface ServerDraft {
  readonly name: string;
  /** A command with its arguments, or a URL. */
  readonly target: string;
  /** Environment variables of a command, headers of a URL. */
  readonly pairs: readonly Pair[];
}

export const isUrl = (target: string): boolean => /^https?:\/\//i.test(target.trim());

export function serversOf(drafts: readonly ServerDraft[]): Record<string, McpServer> {
  const servers: Record<string, McpServer> = {};
  for (const { name, target, pairs } of drafts) {
    if (!name.trim() || !target.trim()) throw new Error("Each MCP server needs a name, and a command or a URL.");
    if (Object.hasOwn(servers, name.trim())) throw new Error(`Two MCP servers are called ${name.trim()}.`);
    const facts = recordOf(pairs);
    const [command = "", ...args] = wordsOf(target);
    servers[name.trim()] = isUrl(target) ? { url: target.trim(), headers: facts } : { command, args, env: facts };
  }
  return servers;
}

/** Splits a command line: quotes and backslashes as in a shell, nothing else. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [raw] of line.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g)) {
    words.push(raw.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_, double?: string, single?: string, escaped?: string) => double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? ""));
  }
  return words;
}

/** Servers from the JSON that many agents use in their settings, or from a whole settings file. */
export function draftsFrom(json: string): ServerDraft[] {
  const given = asRecord(parsed(json));
  if (!given) throw new Error("The MCP servers must be an object: name to server.");
  const servers = asRecord(given.mcpServers) ?? given;
  return Object.entries(servers).map(([name, server]) => {
    const { command, args = [], env = {}, url, headers = {} } = (asRecord(server) ?? {}) as Partial<McpServer>;
    if (url) return { name, target: url, pairs: Object.entries(headers) };
    return { name, target: [command ?? "", ...args].map(quoted).join(" "), pairs: Object.entries(env) };
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
}

function quoted(word: string): string {
  return /^[^\s"'\\]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
