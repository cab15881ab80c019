/** Days without turns, which the daemon leaves out: a plot needs them to keep distances in time. */
import type { UsageSum } from "sandbox-agentd";

const DAY_MS = 86_400_000;

/** Every day (UTC) from the first row to the last, but no more than the latest `most`. */
export function everyDay(rows: readonly UsageSum[], most: number): UsageSum[] {
  const [first, last] = [rows.at(0)?.key, rows.at(-1)?.key];
  if (first == null || last == null) return [...rows];
  const known = new Map(rows.map((row) => [row.key, row]));
  const days: UsageSum[] = [];
  for (let time = Date.parse(last); time >= Date.parse(first) && days.length < most; time -= DAY_MS) {
    const key = new Date(time).toISOString().slice(0, 10);
    days.unshift(known.get(key) ?? { key, turns: 0, turnsWithoutTokens: 0, turnsWithoutCost: 0 });
  }
  return days;
}
