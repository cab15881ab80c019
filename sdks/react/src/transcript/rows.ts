/** Which entries of a transcript are shown, in which order and how deep. Tested on every recording. */
import { type Entry, type MessageEntry, type PermissionEntry, type StatusEntry, TOOL_REQUEST, type ToolEntry } from "sandbox-agentd";
import { type Piece, Pieces } from "./pieces.js";
import { asRecord } from "./record.js";

export interface Row {
  /** Unique in the transcript, and the same while the row is there. */
  readonly key: string;
  readonly entry: Entry;
  /** How many sub-agents lie above it. */
  readonly depth: number;
  /** Of a message that is drawn in several rows, the part that stands in this one. */
  readonly piece: Piece | null;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The result of a sub-agent: it follows the steps that led to it. */
  readonly isResult: boolean;
  /** What was decided about a call, shown in the row of the call. */
  readonly decision: PermissionEntry | null;
  /** How a client answered a call of its tool, shown there too. */
  readonly answer: StatusEntry | null;
  /** It follows a row of its kind, closely. */
  readonly isTight: boolean;
}

/** Status items that tell a person something; the others are for machines, and are shown on demand. */
const TELLING = new Set([
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

/** A message beyond this is cut into pieces. */
const LONG_MESSAGE = 3_000;
const WHOLE = { piece: null, isFirst: true, isLast: true, isResult: false, decision: null, answer: null, isTight: false };

export interface Shown {
  /** What was opened, by the ids of entries. */
  readonly unfolded: ReadonlySet<string>;
  /** Also statuses that are for machines. */
  readonly showAll: boolean;
  /** Leave out what waits for an answer: it is shown elsewhere. */
  readonly asksElsewhere?: boolean;
  /** Requests that have something to say besides how they ended, by their ids. */
  readonly apart?: ReadonlySet<string>;
}

/** Makes the rows of one transcript, again and again: long messages are cut once. */
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

/** A call of a client's tool, which a client has to answer. */
export function isToolRequest(entry: StatusEntry): boolean {
  return entry.label === TOOL_REQUEST;
}

/** Whether it waits for somebody's answer. */
export function asks(entry: Entry): boolean {
  if (entry.kind === "status") return isToolRequest(entry) && entry.status === "in_progress";
  return (entry.kind === "permission" || entry.kind === "question") && entry.state === "requested";
}

/** Requests that have ended, by their calls. Where a call asked twice, the last one is shown in its row. */
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

/** The call that an entry asked about. */
function requestedFor(entry: Entry): string | null {
  if (entry.kind === "permission") return entry.callId;
  const callId = entry.kind === "status" && isToolRequest(entry) && asRecord(entry.data)?.call_id;
  return typeof callId === "string" ? callId : null;
}

/** One of the agent's steps, which stand close together. */
function isStep({ entry, isResult }: Row): boolean {
  return !isResult && !asks(entry) && (entry.kind === "tool" || entry.kind === "reasoning" || entry.kind === "status");
}

function hasResult(entry: ToolEntry): boolean {
  return entry.output !== "" || entry.files.length > 0 || entry.images.length > 0;
}

function isShown(entry: Entry, showAll: boolean): boolean {
  if (entry.kind === "turn_started") return false;
  if (showAll || entry.kind !== "status") return true;
  return TELLING.has(entry.label);
}
