/**
 * Folds events into a transcript. Pure: no clock, no I/O; the same events always give the same transcript.
 *
 * For a live page, keep a `TranscriptFold`, apply each event, and read `transcript` as often as you draw. Reading costs
 * only what has changed: an entry that no event touched is the same object as before, a changed one is a new object.
 */
import {
  completeCall,
  type Draft,
  end,
  type Mutable,
  type Node,
  type NodeOf,
  roleOf,
  sum,
  toolFacts,
  toolWords,
  touch,
  view,
} from "./drafts.js";
import type {
  Entry,
  EntryStatus,
  PermissionEntry,
  PlanStep,
  QuestionEntry,
  SessionEndedEntry,
  StatusEntry,
  Totals,
  Transcript,
} from "./entries.js";
import type {
  Event,
  Item,
  PermissionRequestedEvent,
  PermissionResolvedEvent,
  QuestionRequestedEvent,
  QuestionResolvedEvent,
  SessionMetadata,
  TurnEndedEvent,
} from "./events.js";
import { jsonOf, partOf, partsOf, textOf } from "./parts.js";
import { isRecord, planOf } from "./plan.js";
import { permissionFacts, questionFacts, TOOL_REQUEST } from "./requests.js";

export type * from "./entries.js";

/** The transcript of a session, from its events in order. */
export function foldTranscript(events: Iterable<Event>): Transcript {
  const fold = new TranscriptFold();
  for (const event of events) fold.apply(event);
  return fold.transcript;
}

export class TranscriptFold {
  #top: Node[] = [];
  /** By item id; a tool is here under its call's id and its result's. */
  #items = new Map<string, Node>();
  #tools = new Map<string, NodeOf<"tool">>();
  #requests = new Map<string, Node>();
  #pending = new Set<Node>();
  #queued: string[] = [];
  #ended: Node | null = null;
  #sessionId: string | null = null;
  #nativeSessionId: string | null = null;
  #metadata: SessionMetadata | null = null;
  #title: string | null = null;
  #plan: readonly PlanStep[] = [];
  #turnId: string | null = null;
  #lastSequence = 0;
  #totals: Mutable<Totals> = {
    events: 0,
    turns: 0,
    messages: 0,
    toolCalls: 0,
    failedToolCalls: 0,
    errors: 0,
    durationMs: 0,
    waitingMs: 0,
    usage: {},
  };
  #transcript: Transcript | null = null;

  /** Apply the next event. An event that was applied before is ignored. */
  apply(event: Event): void {
    if (event.sequence <= this.#lastSequence) return;
    this.#lastSequence = event.sequence;
    this.#sessionId = event.session_id;
    this.#nativeSessionId = event.native_session_id;
    this.#totals.events += 1;
    this.#transcript = null;
    this.#take(event);
  }

  /** The transcript so far; the same object until the next event. */
  get transcript(): Transcript {
    this.#transcript ??= {
      sessionId: this.#sessionId,
      nativeSessionId: this.#nativeSessionId,
      metadata: this.#metadata,
      state: this.#state(),
      title: this.#title,
      plan: this.#plan,
      turnId: this.#turnId,
      entries: this.#top.map(view),
      pending: [...this.#pending].map((node) => view(node) as PermissionEntry | QuestionEntry | StatusEntry),
      queued: [...this.#queued],
      ended: this.#ended && (view(this.#ended) as SessionEndedEntry),
      lastSequence: this.#lastSequence,
      totals: { ...this.#totals },
    };
    return this.#transcript;
  }

  #state(): Transcript["state"] {
    if (this.#ended) return "ended";
    if (this.#pending.size > 0) return "requires_action";
    return this.#turnId === null ? "idle" : "running";
  }

  #take(event: Event): void {
    switch (event.type) {
      case "session.started":
        this.#metadata = event.data.metadata ?? null;
        this.#add({ ...this.#base(event), kind: "session_started", metadata: this.#metadata });
        return;
      case "session.ended":
        this.#ended = this.#add({
          ...this.#base(event),
          kind: "session_ended",
          reason: event.data.reason,
          terminatedBy: event.data.terminated_by,
          message: event.data.message ?? null,
          exitCode: event.data.exit_code ?? null,
          stderr: event.data.stderr ?? null,
        });
        return;
      case "turn.started":
        this.#turnId = event.data.turn_id;
        this.#queued = this.#queued.filter((turnId) => turnId !== event.data.turn_id);
        this.#totals.turns += 1;
        this.#add({ ...this.#base(event), kind: "turn_started", turnId: event.data.turn_id });
        return;
      case "turn.ended":
        this.#endTurn(event);
        return;
      case "item.started":
        this.#item(event, event.data.item);
        return;
      case "item.delta":
        this.#delta(event.data.item_id, event.data.delta);
        return;
      case "item.completed":
        this.#item(event, event.data.item);
        this.#complete(event, event.data.item);
        return;
      case "permission.requested":
      case "permission.resolved":
        this.#permission(event);
        return;
      case "question.requested":
      case "question.resolved":
        this.#question(event);
        return;
      case "error":
        this.#totals.errors += 1;
        this.#add({
          ...this.#base(event),
          kind: "error",
          message: event.data.message,
          code: event.data.code ?? null,
          details: event.data.details ?? null,
        });
        return;
      case "agent.unparsed":
        this.#add({
          ...this.#base(event),
          kind: "unparsed",
          error: event.data.error,
          location: event.data.location,
        });
        return;
      default:
        this.#add({ ...this.#base(event), kind: "other", type: event.type, data: event.data });
    }
  }

  // -- turns --------------------------------------------------------------------------------------

  #endTurn(event: TurnEndedEvent): void {
    const { turn_id, metadata } = event.data;
    this.#add({
      ...this.#base(event),
      kind: "turn_ended",
      turnId: turn_id,
      stopReason: metadata.stop_reason,
      durationMs: metadata.duration_ms,
      waitingMs: metadata.waiting_ms ?? 0,
      usage: metadata.usage ?? null,
    });
    this.#turnId = null;
    this.#totals.durationMs += metadata.duration_ms;
    this.#totals.waitingMs += metadata.waiting_ms ?? 0;
    if (metadata.usage) this.#totals.usage = sum(this.#totals.usage, metadata.usage);
  }

  // -- items --------------------------------------------------------------------------------------

  /** Open the item's entry, unless it is there. A reader who began in the middle sees ends without starts. */
  #item(event: Event, item: Item): void {
    if (this.#items.has(item.item_id)) return;
    const node = item.kind === "tool_result" ? this.#result(event, item) : this.#open(event, item);
    this.#items.set(item.item_id, node);
  }

  #open(event: Event, item: Item): Node {
    const base = {
      ...this.#base(event),
      id: item.item_id,
      status: "in_progress" as EntryStatus,
      parentId: item.parent_id,
      endedAt: null,
    };
    const place = this.#placeOf(item);
    const parts = item.content ?? [];
    if (item.kind === "tool_call") {
      const call = partOf(parts, "tool_call");
      return this.#openTool({ ...base, ...toolFacts(call?.call_id ?? item.item_id), ...toolWords(call) }, place);
    }
    if (item.kind === "status") {
      const status = partOf(parts, "status");
      const facts = { label: status?.label ?? "", detail: status?.detail ?? null, data: jsonOf(parts) };
      const node = this.#add({ ...base, kind: "status", ...facts }, place);
      if (facts.label === TOOL_REQUEST) this.#pending.add(node);
      return node;
    }
    const reasoning = partOf(parts, "reasoning");
    if (reasoning) {
      return this.#add({ ...base, kind: "reasoning", text: "", visibility: reasoning.visibility }, place);
    }
    if (item.kind === "message" || item.kind === "system") {
      this.#totals.messages += 1;
      const role = roleOf(item);
      return this.#add({ ...base, kind: "message", role, text: "", files: [], images: [] }, place);
    }
    return this.#add({ ...base, kind: "unknown", data: jsonOf(parts) }, place);
  }

  #openTool(draft: Draft<"tool">, place: Node | null): NodeOf<"tool"> {
    const node = this.#add(draft, place);
    this.#tools.set(draft.callId, node);
    this.#totals.toolCalls += 1;
    return node;
  }

  /** The tool that a result belongs to. A call that was not seen gets its entry now. */
  #result(event: Event, item: Item): Node {
    const callId = partOf(item.content ?? [], "tool_result")?.call_id ?? item.native_item_id ?? item.item_id;
    const tool = this.#tools.get(callId);
    if (tool) return tool;
    const base = { ...this.#base(event), id: item.item_id, parentId: item.parent_id, endedAt: null };
    const facts = { ...toolFacts(callId), argumentsFinal: true };
    return this.#openTool({ ...base, status: "in_progress", ...facts }, this.#placeOf(item));
  }

  /** Where an item belongs: below the call that started its sub-agent, else beside its parent. */
  #placeOf(item: Item): Node | null {
    const parent = item.parent_id === null ? undefined : this.#items.get(item.parent_id);
    if (!parent) return null;
    return parent.draft.kind === "tool" ? parent : parent.parent;
  }

  #delta(itemId: string, delta: string): void {
    const node = this.#items.get(itemId);
    // Without its start it is unknown what this belongs to; the completed item has all of it.
    if (!node) return;
    const draft = node.draft;
    if (draft.kind === "message" || draft.kind === "reasoning") draft.text += delta;
    else if (draft.kind === "tool" && itemId === draft.id && !draft.argumentsFinal) draft.arguments += delta;
    else if (draft.kind === "tool") draft.output += delta;
    touch(node);
  }

  #complete(event: Event, item: Item): void {
    const node = this.#items.get(item.item_id);
    if (!node) return;
    const parts = item.content ?? [];
    const draft = node.draft;
    switch (draft.kind) {
      case "message":
        draft.text = textOf(parts);
        draft.files = partsOf(parts, "file_ref");
        draft.images = partsOf(parts, "image");
        end(draft, item, event);
        break;
      case "reasoning":
        draft.text = partsOf(parts, "reasoning")
          .map((part) => part.text)
          .join("");
        end(draft, item, event);
        break;
      case "tool":
        if (item.kind === "tool_call") completeCall(draft, parts);
        else this.#completeResult(draft, event, item);
        break;
      case "status":
        draft.detail = partOf(parts, "status")?.detail ?? null;
        draft.data = jsonOf(parts);
        end(draft, item, event);
        this.#fact(draft.label, draft.data);
        this.#pending.delete(node);
        break;
      case "unknown":
        draft.data = jsonOf(parts);
        end(draft, item, event);
        break;
    }
    touch(node);
  }

  #completeResult(draft: Draft<"tool">, event: Event, item: Item): void {
    const parts = item.content ?? [];
    const result = partOf(parts, "tool_result");
    draft.output = result?.output ?? draft.output;
    draft.outputFinal = true;
    draft.exitCode = result?.exit_code ?? null;
    draft.files = partsOf(parts, "file_ref");
    draft.images = partsOf(parts, "image");
    draft.durationMs = Date.parse(event.time) - Date.parse(draft.time);
    end(draft, item, event);
    if (draft.status === "failed") this.#totals.failedToolCalls += 1;
  }

  /** What a status item says of the whole session. */
  #fact(label: string, data: unknown): void {
    if (!isRecord(data)) return;
    if (label === "title" && typeof data.title === "string") this.#title = data.title;
    if (label === "plan") this.#plan = planOf(data);
    if (label === "queue" && typeof data.turn_id === "string") {
      this.#queued = this.#queued.filter((turnId) => turnId !== data.turn_id);
      if (data.state === "queued") this.#queued.push(data.turn_id);
    }
  }

  // -- requests -----------------------------------------------------------------------------------

  #permission(event: PermissionRequestedEvent | PermissionResolvedEvent): void {
    const facts = permissionFacts(event.data);
    const node = this.#request(event, facts.permissionId, facts.callId, () => ({
      ...this.#base(event),
      id: facts.permissionId,
      resolvedAt: null,
      ...facts,
    }));
    this.#settle(node, facts, event, event.type === "permission.resolved");
    const tool = facts.callId === null ? undefined : this.#tools.get(facts.callId);
    if (tool && !tool.draft.permissionIds.includes(facts.permissionId)) {
      tool.draft.permissionIds = [...tool.draft.permissionIds, facts.permissionId];
      touch(tool);
    }
  }

  #question(event: QuestionRequestedEvent | QuestionResolvedEvent): void {
    const facts = questionFacts(event.data);
    const node = this.#request(event, facts.questionId, facts.callId, () => ({
      ...this.#base(event),
      id: facts.questionId,
      resolvedAt: null,
      ...facts,
    }));
    this.#settle(node, facts, event, event.type === "question.resolved");
  }

  /** The entry of a request, beside the call that it is about. */
  #request(event: Event, id: string, callId: string | null, make: () => Mutable<Entry>): Node {
    const known = this.#requests.get(id);
    if (known) return known;
    const tool = callId === null ? undefined : this.#tools.get(callId);
    const node = this.#add(make(), tool?.parent ?? null);
    this.#requests.set(id, node);
    return node;
  }

  /** Whether it is resolved is said by the type: a newer daemon may send states that this client does not know. */
  #settle(node: Node, facts: object, event: Event, resolved: boolean): void {
    Object.assign(node.draft, facts, resolved ? { resolvedAt: event.time } : {});
    if (resolved) this.#pending.delete(node);
    else this.#pending.add(node);
    touch(node);
  }

  // -- entries ------------------------------------------------------------------------------------

  #base(event: Event) {
    return {
      id: event.event_id,
      sequence: event.sequence,
      time: event.time,
      turnId: this.#turnId,
      source: event.source,
    };
  }

  #add<Made extends Mutable<Entry>>(draft: Made, parent: Node | null = null): Node & { draft: Made } {
    const node = { draft, entry: null, parent, children: [] };
    if (parent) {
      parent.children.push(node);
      touch(parent);
    } else {
      this.#top.push(node);
    }
    return node;
  }
}
