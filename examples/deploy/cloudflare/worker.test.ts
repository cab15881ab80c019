/**
 * The Worker, bundled by wrangler and run in workerd. Containers need an engine, so a stand-in takes the place of
 * `@cloudflare/sandbox`; the bundle with the real package is built, too.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../machine.js";
import { CONVERSATION } from "../story.js";
import { Machines } from "./machines.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const WRANGLER = fileURLToPath(new URL("../node_modules/.bin/wrangler", import.meta.url));
const AUTHORIZED = { authorization: "Bearer for-the-test" };

/** What `wrangler deploy` would send, without containers: those are built by an engine. */
async function bundle(name: string, changes: object): Promise<string> {
  const { containers: _, ...settings } = JSON.parse(readFileSync(join(HERE, "wrangler.jsonc"), "utf8")) as Record<string, unknown>;
  mkdirSync(join(HERE, "build"), { recursive: true });
  const config = join(HERE, "build", `${name}.json`);
  writeFileSync(config, JSON.stringify({ ...settings, main: "../worker.ts", ...changes }));
  const outdir = join(HERE, "build", name);
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "1" };
  await promisify(execFile)(WRANGLER, ["deploy", "--dry-run", "--config", config, "--outdir", outdir], { cwd: HERE, env });
  return join(outdir, "worker.js");
}

test("wrangler bundles the Worker with the real package", async () => {
  expect(statSync(await bundle("real", {})).size).toBeGreaterThan(100_000);
});

const machines = new Machines();
let workerd: Miniflare;

beforeAll(async () => {
  const script = await bundle("stand-in", { alias: { "@cloudflare/sandbox": "../stand-in.ts" } });
  workerd = new Miniflare({
    modules: [{ type: "ESModule", path: script }],
    compatibilityDate: "2026-03-01",
    compatibilityFlags: ["nodejs_compat"],
    durableObjects: { Sandbox: { className: "Sandbox", useSQLite: true } },
    bindings: {
      ACCESS_TOKEN: "for-the-test",
      AGENT: "mock",
      MACHINES: await machines.start(),
      PORT: String(await freePort()),
    },
  });
}, 120_000);

afterAll(async () => {
  await workerd?.dispose();
  machines.stop();
});

test("in workerd, a sandbox is created, found again, and deleted", async () => {
  const ask = async (path: string, init: { method: string; body?: string }) =>
    workerd.dispatchFetch(`http://worker${path}`, { ...init, headers: AUTHORIZED });
  const first = await ask("/ada", { method: "POST", body: "hello" });
  expect([first.status, await first.text()]).toEqual([200, CONVERSATION[0]]);
  const session = first.headers.get("x-session") ?? "";
  const second = await ask(`/ada?session=${session}`, { method: "POST", body: "hello again" });
  expect(await second.text()).toBe(CONVERSATION[1]);
  const [machine] = machines.all.values();
  expect(machines.all.size).toBe(1);
  expect((await ask("/ada", { method: "DELETE" })).status).toBe(204);
  expect(machine?.state).toBe("gone");
});

test("nobody gets in without the Worker's token", async () => {
  expect((await workerd.dispatchFetch("http://worker/ada")).status).toBe(401);
  expect(machines.all.size).toBe(0);
});
