import { expect, test } from "vitest";
import { everyDay } from "../src/usage/days";

const day = (key: string, turns: number) => ({ key, turns, turnsWithoutTokens: 0, turnsWithoutCost: 0 });

test("days without turns are there, across the end of a month", () => {
  expect(everyDay([day("2026-02-27", 1), day("2026-03-02", 2)], 120)).toEqual([
    day("2026-02-27", 1),
    day("2026-02-28", 0),
    day("2026-03-01", 0),
    day("2026-03-02", 2),
  ]);
});

test("of many days, the latest are kept, however long ago the first was", () => {
  expect(everyDay([day("1970-01-01", 1), day("2026-03-02", 2)], 2)).toEqual([day("2026-03-01", 0), day("2026-03-02", 2)]);
});

test("nothing stays nothing", () => {
  expect(everyDay([], 120)).toEqual([]);
});
