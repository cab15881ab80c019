/** A transcript as a Markdown document. */
import type { Entry, MessageEntry, SessionInfo, ToolEntry, Transcript } from "sandbox-agentd";
import { dateAndClock, duration, lastPart, money } from "chat/parts/format";
import { commandOf } from "chat/transcript/commandOf";
import { messageOf, outcomeOf } from "chat/transcript/outcome";

export function asMarkdown(transcript: Transcript, info: SessionInfo, name: string): string {
  const facts = [info.agent, info.model, info.directory, dateAndClock(info.createdAt)].filter(Boolean).join(" · ");
  const blocks = [`# ${name}`, facts, ...transcript.entries.flatMap((entry) => blocksOf(entry))];
  return `${blocks.join("\n\n")}\n`;
}

function blocksOf(entry: Entry, level = 0): string[] {
  switch (entry.kind) {
    case "message":
      return [...(entry.role === "user" ? ["## User"] : []), entry.text, ...attached(entry)].filter(Boolean);
    case "reasoning":
      return [quoted(entry.text)];
    case "tool":
      return toolBlocks(entry, level);
    case "permission": {
      const message = messageOf(entry);
      return [`*${entry.title}: ${entry.state === "requested" ? "waiting for an answer" : outcomeOf(entry)}*${message ? ` “${message}”` : ""}`];
    }
    case "question":
      if (entry.isPlan) return ["**Plan**", entry.prompt, `*${entry.state === "answered" ? "Approved" : entry.state === "rejected" ? "Rejected" : "Waiting for an answer"}*`];
      return entry.questions.map(({ question }, index) => `**${question}** ${entry.answers?.[index]?.join(", ") ?? "(not answered)"}`);
    case "error":
      return [`**Error:** ${entry.message}`];
    case "turn_ended": {
      const cost = entry.usage?.cost_usd;
      const took = entry.durationMs >= 100 && duration(entry.durationMs);
      return [`*${[entry.stopReason.replaceAll("_", " "), took, cost != null && money(cost)].filter(Boolean).join(" · ")}*`];
    }
    case "session_ended":
      return [`*The session ended (${entry.reason}).* ${entry.message ?? ""}`.trim()];
    default:
      return [];
  }
}

function attached({ files, images }: MessageEntry): string[] {
  const names = [...files, ...images].map(({ path }) => lastPart(path));
  return names.length > 0 ? [`*Attached: ${names.join(", ")}*`] : [];
}

function toolBlocks(entry: ToolEntry, level: number): string[] {
  const command = commandOf(entry);
  const head = `${"#".repeat(Math.min(6, 3 + level))} ${entry.name}${entry.title !== entry.name && command === null ? `: ${entry.title}` : ""}`;
  return [
    head,
    ...(command === null ? [] : [fenced(command, "sh")]),
    ...entry.children.flatMap((child) => blocksOf(child, level + 1)),
    ...entry.files.map((file) => (file.diff ? fenced(file.diff, "diff") : `*${file.action} ${file.path}*`)),
    ...(entry.output && !entry.files.some((file) => file.diff) ? [fenced(entry.output)] : []),
  ];
}

/** Uses a fence longer than any fence inside. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((found) => found.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function quoted(text: string): string {
  return text.replace(/^/gm, "> ");
}
