/** Which entries of a transcript are shown, in which order and how deeply nested. Tested on every recording. */
import { type Entry, type MessageEntry, type PermissionEntry, type StatusEntry, TOOL_REQUEST, type ToolEntry } from "sandbox-agentd";
import { type Piece, Pieces } from "./pieces.js";
import { asRecord } from "./record.js";

export interface Row {
  /** Unique in the transcript, and stable while the row exists. */
  readonly key: string;
  readonly entry: Entry;
  /** How many sub-agents are above it. */
  readonly depth: number;
  /** The part of a message that this row shows, if the message has several rows. */
  readonly piece: Piece | null;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The result of a sub-agent, shown after the steps that led to it. */
  readonly isResult: boolean;
  /** The decision about a call, shown in the row of the call. */
  readonly decision: PermissionEntry | null;
  /** How a client answered a call of its tool, also shown there. */
  readonly answer: StatusEntry | null;
  /** It directly follows a row of the same kind, and is grouped with it. */
  readonly isTight: boolean;
}

/** Status items for people; the others are for programs, and are shown on request. */
const FOR_PEOPLE = new Set([
  TOOL_REQUEST,
  "compaction",
  "injected",
  "limit",
  "notice",
  "permission_denied",
  "pi.notify",
  "plan",
  "refusal",
  "resume_lost",
  "retry",
  "review",
  "title",
]);

/** Longer messages are split into pieces. */
const LONG_MESSAGE = 3_000;
const WHOLE = { piece: null, isFirst: true, isLast: true, isResult: false, decision: null, answer: null, isTight: false };

export interface Shown {
  /** The ids of the entries that are open. */
  readonly unfolded: ReadonlySet<string>;
  /** Include statuses for programs. */
  readonly showAll: boolean;
  /** Leave out pending requests: they are shown elsewhere. */
  readonly asksElsewhere?: boolean;
  /** The ids of requests that have something to say besides their outcome. */
  readonly apart?: ReadonlySet<string>;
}

/** Makes the rows of one transcript repeatedly: long messages are split once. */
export class Rows {
  #pieces = new Map<string, Pieces>();

  of(entries: readonly Entry[], { unfolded, showAll, asksElsewhere = false, apart = new Set() }: Shown): Row[] {
    const rows: Row[] = [];
    const { decisions, answers } = endedRequests(entries, apart);
    const merged = new Set<Entry>([...decisions.values(), ...answers.values()]);
    const push = (row: Row) => {
      const before = rows.at(-1);
      rows.push({ ...row, isTight: before !== undefined && isStep(before) && isStep(row) && before.depth === row.depth });
    };
    const collect = (level: readonly Entry[], depth: number) => {
      for (const entry of level) {
        if (!isShown(entry, showAll) || merged.has(entry) || (asksElsewhere && asks(entry))) continue;
        if (entry.kind === "message" && entry.role !== "user") this.#message(entry, depth).forEach(push);
        else if (entry.kind === "tool") tool(entry, depth);
        else push({ ...WHOLE, key: entry.id, entry, depth });
      }
    };
    const tool = (entry: ToolEntry, depth: number) => {
      const decision = decisions.get(entry.callId) ?? null;
      const answer = answers.get(entry.callId) ?? null;
      push({ ...WHOLE, key: entry.id, entry, depth, decision, answer });
      if (entry.children.length === 0 || !unfolded.has(entry.id)) return;
      collect(entry.children, depth + 1);
      if (hasResult(entry)) push({ ...WHOLE, key: `${entry.id}:result`, entry, depth, isResult: true });
    };
    collect(entries, 0);
    return rows;
  }

  #message(entry: MessageEntry, depth: number): Row[] {
    if (entry.text.length <= LONG_MESSAGE) return [{ ...WHOLE, key: entry.id, entry, depth }];
    let pieces = this.#pieces.get(entry.id);
    if (!pieces) this.#pieces.set(entry.id, (pieces = new Pieces()));
    return pieces.of(entry.text).map((piece, index, all) => ({
      ...WHOLE,
      key: index === 0 ? entry.id : `${entry.id}:${index}`,
      entry,
      depth,
      piece,
      isFirst: index === 0,
      isLast: index === all.length - 1,
    }));
  }
}

/** A call to a client's tool. */
export function isToolRequest(entry: StatusEntry): boolean {
  return entry.label === TOOL_REQUEST;
}

/** Whether it waits for an answer. */
export function asks(entry: Entry): boolean {
  if (entry.kind === "status") return isToolRequest(entry) && entry.status === "in_progress";
  return (entry.kind === "permission" || entry.kind === "question") && entry.state === "requested";
}

/** Requests that have ended, by call. If a call asked twice, its row shows the last one. */
function endedRequests(entries: readonly Entry[], apart: ReadonlySet<string>) {
  const calls = new Set<string>();
  const decisions = new Map<string, PermissionEntry>();
  const answers = new Map<string, StatusEntry>();
  const look = (level: readonly Entry[]) => {
    for (const entry of level) {
      if (entry.kind === "tool") {
        calls.add(entry.callId);
        look(entry.children);
      } else if (!asks(entry) && !apart.has(entry.id)) {
        const callId = requestedFor(entry);
        if (callId === null || !calls.has(callId)) continue;
        if (entry.kind === "permission") decisions.set(callId, entry);
        if (entry.kind === "status") answers.set(callId, entry);
      }
    }
  };
  look(entries);
  return { decisions, answers };
}

/** The call that a request is about. */
function requestedFor(entry: Entry): string | null {
  if (entry.kind === "permission") return entry.callId;
  const callId = entry.kind === "status" && isToolRequest(entry) && asRecord(entry.data)?.call_id;
  return typeof callId === "string" ? callId : null;
}

/** A step of the agent. Steps are grouped closely. */
function isStep({ entry, isResult }: Row): boolean {
  return !isResult && !asks(entry) && (entry.kind === "tool" || entry.kind === "reasoning" || entry.kind === "status");
}

function hasResult(entry: ToolEntry): boolean {
  return entry.output !== "" || entry.files.length > 0 || entry.images.length > 0;
}

function isShown(entry: Entry, showAll: boolean): boolean {
  if (entry.kind === "turn_started") return false;
  if (showAll || entry.kind !== "status") return true;
  return FOR_PEOPLE.has(entry.label);
}
