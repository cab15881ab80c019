/** `SandboxAgent.start({ sandbox })` with the providers that need no package of others. `make deploy-examples` tests the rest. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { DaemonNotStarted, SandboxAgent, type Sandbox, type SandboxProvider, WrongUsage } from "sandbox-agentd";
import { docker } from "sandbox-agentd/docker";
import { local } from "sandbox-agentd/local";
import { COMMAND, ROOT, temporaryFolder } from "./daemons.js";

test("a local sandbox of a name keeps its sessions while it is paused", { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const options = { sandbox: local({ command: COMMAND, folder }), name: "kept" };
  const client = await SandboxAgent.start(options);
  assert.equal(client.sandboxName, "kept");
  const session = await client.sessions.create({ agent: "mock" });
  await session.prompt("hello");
  await client.close();
  const found = await SandboxAgent.start(options);
  assert.deepEqual([found.baseUrl, found.token], [client.baseUrl, client.token]);
  await found.pause();
  await assert.rejects(found.getHealth());
  const again = await SandboxAgent.start(options);
  assert.notEqual(again.token, client.token);
  const { text } = await (await again.sessions.get(session.id)).prompt("again");
  assert.match(text, /message 2 of this conversation/);
  await again.kill();
  assert.deepEqual(readdirSync(folder), []);
});

test("a local sandbox without a name is gone when its client is closed", async () => {
  const folder = temporaryFolder();
  const client = await SandboxAgent.start({ sandbox: local({ command: COMMAND, folder }) });
  assert.ok(existsSync(join(folder, client.sandboxName ?? "", "data")));
  await assert.rejects(client.pause(), WrongUsage);
  await client.close();
  assert.deepEqual(readdirSync(folder), []);
});

test("a local sandbox that cannot start says why and leaves nothing", async () => {
  const folder = temporaryFolder();
  const sandbox = local({ command: COMMAND, folder });
  for (const name of ["named", undefined]) {
    const failing = SandboxAgent.start({ sandbox, name, flags: ["--log-level", "shouting"] });
    await assert.rejects(failing, (error) => error instanceof DaemonNotStarted && /shouting/.test(error.message));
  }
  assert.deepEqual(readdirSync(folder), []);
});

test("a container keeps its sessions while it is stopped", { timeout: 120_000 }, async () => {
  const socket = join(temporaryFolder(), "docker.sock");
  const engine = spawn(COMMAND[0], ["-m", "tests.deploy.engine", socket], {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: ROOT },
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(createInterface(engine.stdout), "line");
  const options = { sandbox: docker({ socket }), name: "kept" };
  const client = await SandboxAgent.start(options);
  const session = await client.sessions.create({ agent: "mock" });
  await session.prompt("hello");
  await client.pause();
  const again = await SandboxAgent.start(options);
  assert.notEqual(again.token, client.token);
  assert.match((await (await again.sessions.get(session.id)).prompt("again")).text, /message 2 of this conversation/);
  await again.kill();
  engine.stdin.end();
  await once(engine, "exit");
});

test("a sandbox whose daemon does not answer is deleted, and if that fails the error says so", async () => {
  let killed = 0;
  const silent = (kill: () => Promise<void>, isNew = true): SandboxProvider => ({
    name: "silent",
    start: async (): Promise<Sandbox> => ({ baseUrl: "http://127.0.0.1:1", token: "t", isNew, kill }),
  });
  const counted = async (): Promise<void> => void (killed += 1);
  const start = (sandbox: SandboxProvider): Promise<SandboxAgent> => SandboxAgent.start({ sandbox, startTimeoutMs: 300 });
  await assert.rejects(start(silent(counted)), /does not answer at http:\/\/127.0.0.1:1 within 0.3 s/);
  assert.equal(killed, 1);
  await assert.rejects(start(silent(counted, false)), /does not answer/);
  assert.equal(killed, 1);
  const stuck = silent(() => Promise.reject(new Error("no permission")));
  await assert.rejects(start(stuck), /could not be deleted either, so delete it yourself: no permission/);
});

test("wrong usage is told", async () => {
  const sandbox = local({ command: COMMAND });
  await assert.rejects(SandboxAgent.start({ sandbox, name: "../x" }), /name is "..\/x": it has 1 to 64 characters/);
  await assert.rejects(SandboxAgent.start({ sandbox, dataDir: "/x" }), /give them to local\(\)/);
  await assert.rejects(SandboxAgent.start({ name: "x" }), /pass `sandbox` as well/);
});

test("a deadline does not pass because the clock of the machine is set", async (t) => {
  let left = 0;
  const sandbox: SandboxProvider = {
    name: "clock",
    start: async ({ deadline }) => {
      const now = Date.now();
      t.mock.method(Date, "now", () => now + 86_400_000);
      left = deadline.left;
      throw new WrongUsage("enough");
    },
  };
  await assert.rejects(SandboxAgent.start({ sandbox, startTimeoutMs: 60_000 }), WrongUsage);
  assert.ok(left > 50_000, `${left} ms are left`);
});
