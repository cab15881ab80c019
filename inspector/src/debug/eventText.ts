/** A short description of an event for a list, and whether the event matches a search. */
import type { Event } from "sandbox-agentd";
import { asRecord } from "chat/transcript/record";

export function eventText(event: Event): string {
  const data = asRecord(event.data) ?? {};
  switch (event.type) {
    case "item.delta":
      return JSON.stringify(data.delta).slice(0, 120);
    case "item.started":
    case "item.completed":
      return itemText(asRecord(data.item) ?? {});
    case "turn.started":
    case "turn.ended":
      return [data.turn_id, asRecord(data.metadata)?.stop_reason].filter(Boolean).join(" ");
    case "permission.requested":
    case "permission.resolved":
      return `${String(asRecord(data.metadata)?.title || data.action)} ${String(data.status)}`;
    case "question.requested":
    case "question.resolved":
      return `${String(data.status)} ${String(data.prompt).slice(0, 80)}`;
    case "error":
      return String(data.message);
    case "session.ended":
      return String(data.reason);
    case "agent.unparsed":
      return String(data.error);
    default:
      return "";
  }
}

function itemText(item: Readonly<Record<string, unknown>>): string {
  const parts = Array.isArray(item.content) ? item.content.map((part) => partText(asRecord(part) ?? {})) : [];
  const failed = item.status === "failed" ? "failed" : null;
  return [item.kind, item.role === "user" ? "user" : null, failed, ...parts].filter(Boolean).join(" ").slice(0, 160);
}

function partText(part: Readonly<Record<string, unknown>>): string {
  const label = part.title || (part.name ?? part.label ?? part.text ?? part.output ?? part.path ?? "");
  return String(label).replace(/\s+/g, " ").slice(0, 80);
}

export function matches(event: Event, words: string): boolean {
  return words === "" || JSON.stringify(event).toLowerCase().includes(words.toLowerCase());
}
