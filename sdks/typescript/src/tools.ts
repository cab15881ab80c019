/** Tools of the client: their descriptions for the agent, and the handling of their results. */
import { unlessSettled } from "./answers.js";
import { InvalidRequest, PayloadTooLarge, WrongUsage } from "./errors.js";
import type { Item } from "./events.js";
import type { Http } from "./http.js";
import type { components } from "./openapi.js";
import { TOOL_REQUEST } from "./requests.js";

type Schemas = components["schemas"];

/** The description of a tool, for the daemon and the agent. */
export type ToolSpec = Schemas["Tool"];
/** A call to a client's tool that waits for its result. */
export type ToolRequest = Schemas["ToolRequest"];
/** The result of a call: `output` or `error`, and images. */
export type ToolReply = Schemas["ReplyToolCallBody"];
export type ToolCallList = Schemas["ToolCallList"];

/** A JSON Schema, or something that can be turned into one, such as a schema of Zod 4. */
export type ToolSchema = object | { toJSONSchema(): object };

/** An image to return from a tool, alone or in an array. `toolImage` creates one from bytes. */
export interface ToolImage {
  /** The image, encoded in base64. */
  readonly data: string;
  /** Its media type, e.g. `image/png`. */
  readonly mime: `image/${string}`;
}

/** A function that the agent may call. */
export interface ClientTool {
  /** 1 to 64 characters of A-Z a-z 0-9 _ - */
  readonly name: string;
  /** What it does and when to call it, for the model. */
  readonly description?: string | undefined;
  /** The schema of its arguments, an object; `inputSchema` is an alias. Without a schema, the tool takes no arguments. */
  readonly schema?: ToolSchema | undefined;
  readonly inputSchema?: ToolSchema | undefined;
  /**
   * Answers a call. A string is returned as it is, anything else as JSON; an error is reported to the agent. The arguments match
   * the schema. Without this function, another client has to answer.
   */
  // `any`, so that a function may declare its arguments.
  run?(args: any): unknown;
}

const MAX_SESSIONS = 10_000;

/** The functions of one session, by the names of their tools. */
export class Toolbox {
  readonly #tools = new Map<string, ClientTool>();
  /** Several readers of one client see a call, and it must run once. */
  readonly #running = new Set<string>();

  add(tools: readonly ClientTool[]): void {
    for (const tool of tools) if (tool.run) this.#tools.set(tool.name, tool);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Run the function and return its result, unless the call is answered already. */
  async answer(http: Http, sessionId: string, { call_id: callId, name }: ToolRequest): Promise<void> {
    const tool = this.#tools.get(name);
    if (!tool || this.#running.has(callId)) return;
    this.#running.add(callId);
    try {
      const listed = http.json<ToolCallList>("tool_calls.list", { path: { session_id: sessionId } });
      const waiting = (await unlessSettled(listed))?.toolCalls.find((call) => call.call_id === callId);
      if (waiting) await reply(http, sessionId, callId, await replyOf(tool, waiting.arguments));
    } finally {
      this.#running.delete(callId);
    }
  }
}

/** The toolboxes of a client, by session. */
export class Toolboxes {
  readonly #ofSession = new Map<string, Toolbox>();

  /** The toolbox of a session, with these tools in it too. */
  of(sessionId: string, tools: readonly ClientTool[] = []): Toolbox {
    const found = this.#ofSession.get(sessionId) ?? new Toolbox();
    found.add(tools);
    if (tools.length > 0) this.#ofSession.set(sessionId, found);
    const [oldest] = this.#ofSession.keys();
    if (this.#ofSession.size > MAX_SESSIONS && oldest !== undefined) this.#ofSession.delete(oldest);
    return found;
  }
}

/** The descriptions of tools, for the daemon. */
export function specsOf(tools: readonly ClientTool[]): ToolSpec[] {
  return tools.map((tool) => {
    if (typeof tool?.name !== "string") throw new WrongUsage("a tool has a name: { name, description, schema, run }");
    if (tool.run !== undefined && typeof tool.run !== "function") {
      throw new WrongUsage(`\`run\` of the tool \`${tool.name}\` is not a function`);
    }
    const { name, description = "" } = tool;
    return { name, description, inputSchema: schemaOf(name, tool.schema ?? tool.inputSchema) };
  });
}

function schemaOf(name: string, given: ToolSchema | undefined): Record<string, unknown> {
  if (given === undefined) return { type: "object", properties: {} };
  const schema = "toJSONSchema" in given && typeof given.toJSONSchema === "function" ? given.toJSONSchema() : given;
  // Without this, a library's schema object that has no JSON Schema would be sent as its private fields.
  const prototype: unknown = Object.getPrototypeOf(schema);
  if (prototype === Object.prototype || prototype === null) return schema as Record<string, unknown>;
  throw new WrongUsage(
    `the schema of the tool \`${name}\` is not a JSON Schema: give a plain object, or something with toJSONSchema()`,
  );
}

/** Create an image from bytes, to return from a tool. */
export function toolImage(content: Uint8Array, mime: ToolImage["mime"] = "image/png"): ToolImage {
  let text = "";
  for (const byte of content) text += String.fromCharCode(byte);
  return { data: btoa(text), mime };
}

/** The call that an item asks a client to answer, if it is such an item. */
export function toolRequestIn({ kind, content = [] }: Item): ToolRequest | null {
  const [status, payload] = content;
  if (kind !== "status" || status?.type !== "status" || status.label !== TOOL_REQUEST) return null;
  return payload?.type === "json" ? (payload.json as ToolRequest) : null;
}

async function replyOf(tool: ClientTool, args: unknown): Promise<ToolReply> {
  try {
    const value = await tool.run?.(args);
    const parts = Array.isArray(value) && value.some(isImage) ? value : [value];
    const output = parts.filter((part) => !isImage(part)).map(textOf);
    return { output: output.join("\n"), images: parts.filter(isImage) };
  } catch (error) {
    return { error: String(error) };
  }
}

function isImage(value: unknown): value is ToolImage {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) return false;
  const { data, mime } = value as Partial<ToolImage>;
  return typeof data === "string" && typeof mime === "string" && mime.startsWith("image/");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === null ? "" : (JSON.stringify(value) ?? "");
}

async function reply(http: Http, sessionId: string, callId: string, body: ToolReply): Promise<void> {
  const path = { session_id: sessionId, call_id: callId };
  const sent = http.done("tool_calls.reply", { path, body }).catch(async (refused: unknown) => {
    if (!(refused instanceof InvalidRequest) && !(refused instanceof PayloadTooLarge)) throw refused;
    const error = `the result of the tool was refused: ${refused.message}`;
    await http.done("tool_calls.reply", { path, body: { error } });
  });
  await unlessSettled(sent);
}
