/** The limits of a session, and how much of each is used. */
import type { SessionInfo } from "sandbox-agentd";
import { count, duration, money } from "chat/parts/format";

export type LimitName = keyof NonNullable<SessionInfo["limits"]>;

export interface Measure {
  readonly limit: LimitName;
  readonly used: number;
  readonly value: number;
  /** `$0.02 of $0.03`. */
  readonly words: string;
}

/** Limits that can be measured from events; time passes by itself. */
export function measuresOf({ limits = {}, usage, turns = 0 }: SessionInfo): Measure[] {
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  const measures: Measure[] = [];
  const add = (limit: LimitName, used: number, write: (figure: number) => string, unit = "") => {
    const value = limits[limit];
    if (value != null) measures.push({ limit, used, value, words: `${write(used)} of ${write(value)}${unit}` });
  };
  add("maxCostUsd", usage.costUsd ?? 0, money);
  add("maxTokens", tokens, count, " tokens");
  add("maxTurns", turns, count, " turns");
  return measures;
}

/** The time limits, as text. */
export function timesOf({ limits = {}, createdAt }: SessionInfo, now: number): string[] {
  const { maxTurnSeconds, maxSessionSeconds } = limits;
  const times: string[] = [];
  if (maxTurnSeconds != null) times.push(`${duration(maxTurnSeconds * 1000)} for a turn`);
  if (maxSessionSeconds != null) times.push(`${duration(now - Date.parse(createdAt))} of ${duration(maxSessionSeconds * 1000)} for the session`);
  return times;
}
