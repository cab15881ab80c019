/** Entries of a transcript while they are built. */
import type { Entry, EntryStatus, MessageEntry, ToolEntry } from "./entries.js";
import type { ContentPart, Event, Item, Usage } from "./events.js";
import { partOf } from "./parts.js";

export type Mutable<T> = T extends unknown ? { -readonly [Name in keyof T]: T[Name] } : never;
type ToolCall = Extract<ContentPart, { type: "tool_call" }>;
export type Draft<Kind extends Entry["kind"]> = Mutable<Extract<Entry, { kind: Kind }>>;

/** An entry being built: `entry` is the object given to readers, null if the draft has changed since. */
export interface Node {
  draft: Mutable<Entry>;
  entry: Entry | null;
  parent: Node | null;
  children: Node[];
}
export type NodeOf<Kind extends Entry["kind"]> = Node & { draft: Draft<Kind> };

/** The entry as readers see it: a new object only if it, or something below it, has changed. */
export function view(node: Node): Entry {
  node.entry ??= node.draft.kind === "tool" ? { ...node.draft, children: node.children.map(view) } : { ...node.draft };
  return node.entry;
}

/** Discard the objects given to readers, up to the root: a changed child makes its parents new objects. */
export function touch(node: Node): void {
  node.entry = null;
  for (let above = node.parent; above?.entry; above = above.parent) above.entry = null;
}

export function end(draft: { status: EntryStatus; endedAt: string | null }, item: Item, event: Event): void {
  draft.status = item.status;
  draft.endedAt = event.time;
}

export function toolFacts(callId: string) {
  return {
    kind: "tool" as const,
    callId,
    ...toolWords(undefined),
    arguments: "",
    argumentsFinal: false,
    input: null,
    output: "",
    outputFinal: false,
    exitCode: null,
    files: [],
    images: [],
    durationMs: null,
    permissionIds: [],
    children: [],
  };
}

/** Name, kind and title of a call. Calls in old logs have no kind and no title. */
export function toolWords(call: ToolCall | undefined) {
  return { name: call?.name ?? "", toolKind: call?.kind ?? "other", title: call?.title || (call?.name ?? "") };
}

/** The arguments are final; the tool itself is complete when its result is. */
export function completeCall(draft: Draft<"tool">, parts: readonly ContentPart[]): void {
  const call = partOf(parts, "tool_call");
  if (call) Object.assign(draft, toolWords(call));
  draft.arguments = call?.arguments ?? draft.arguments;
  draft.argumentsFinal = true;
  draft.input = parsed(draft.arguments);
}

export function sum(before: Usage, turn: Usage): Usage {
  const total: Record<string, number> = {};
  for (const usage of [before, turn]) {
    for (const [name, figure] of Object.entries(usage)) {
      // Of the context, the latest is what counts.
      if (typeof figure === "number") total[name] = (name.startsWith("context_") ? 0 : (total[name] ?? 0)) + figure;
    }
  }
  return total;
}

export function roleOf(item: Item): MessageEntry["role"] {
  if (item.kind === "system") return "system";
  return item.role === "user" ? "user" : "assistant";
}

function parsed(json: string): ToolEntry["input"] {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}
