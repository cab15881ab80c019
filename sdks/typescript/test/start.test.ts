/** `SandboxAgent.start()`: a daemon that lives and dies with the program. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { DaemonNotStarted, SandboxAgent } from "sandbox-agentd";
import { COMMAND, temporaryFolder } from "./daemons.js";

function isAlive(pid: number): boolean {
  try {
    // A zombie has ended; only nobody has asked how.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function isGone(pid: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (isAlive(pid)) {
    assert.ok(performance.now() < deadline, `process ${pid} outlives the program that started it`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function optionsIn(folder: string): { command: readonly string[]; dataDir: string; cwd: string } {
  return { command: COMMAND, dataDir: join(folder, "data"), cwd: folder };
}

/** A program that starts a daemon, says the daemon's pid, and goes on as told. */
async function program(goesOn: string): Promise<{ child: ChildProcess; pid: number }> {
  const folder = temporaryFolder();
  const path = join(folder, "program.mjs");
  writeFileSync(
    path,
    `import { SandboxAgent } from ${JSON.stringify(import.meta.resolve("sandbox-agentd"))};
     const client = await SandboxAgent.start(${JSON.stringify(optionsIn(folder))});
     const session = await client.sessions.create({ agent: "mock" });
     await session.prompt("hello");
     console.log(client.daemonPid);
     ${goesOn}`,
  );
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "ignore"] });
  assert.ok(child.stdout);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, pid: Number(line) };
}

test("a started daemon answers, knows its token, and keeps it out of the command line", async () => {
  const client = await SandboxAgent.start(optionsIn(temporaryFolder()));
  try {
    assert.equal((await client.getHealth()).status, "ok");
    const { token, daemonPid, baseUrl } = client;
    assert.ok(token && daemonPid);
    assert.ok(!readFileSync(`/proc/${daemonPid}/cmdline`, "utf8").includes(token));
    const second = await SandboxAgent.connect({ baseUrl, token });
    assert.deepEqual((await second.listSessions()).sessions, []);
  } finally {
    await client.close();
  }
  assert.ok(!isAlive(client.daemonPid ?? 0));
  await client.close();
});

test("a program that is done ends, and its daemon with it", async () => {
  const { child, pid } = await program("");
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 0);
  await isGone(pid);
});

test("a program that crashes takes its daemon with it", async () => {
  const { child, pid } = await program("setTimeout(() => { throw new Error('boom') }); await new Promise(() => {});");
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 1);
  await isGone(pid);
});

test("a program that is killed takes its daemon with it", async () => {
  const { child, pid } = await program("setInterval(() => {}, 1000);");
  child.kill("SIGKILL");
  await isGone(pid);
});

test("a daemon that was killed is not waited for", async () => {
  const client = await SandboxAgent.start({ ...optionsIn(temporaryFolder()), reconnectTimeoutMs: 15_000 });
  const session = await client.sessions.create({ agent: "mock" });
  const turn = session.prompt("slow 60");
  for await (const event of turn) if (event.type === "turn.started") break;
  assert.ok(client.daemonPid);
  process.kill(client.daemonPid, "SIGKILL");
  const ended = { name: "DaemonUnreachable", message: /^the daemon that this program started has ended \(SIGKILL\)/ };
  await assert.rejects(Promise.resolve(turn), ended);
  await assert.rejects(client.getHealth(), ended);
});

test("a daemon that cannot start says why", async () => {
  const folder = temporaryFolder();
  await assert.rejects(SandboxAgent.start({ ...optionsIn(folder), flags: ["--log-level", "shouting"] }), (error) => {
    assert.ok(error instanceof DaemonNotStarted);
    assert.match(error.message, /the daemon did not start:[^]*shouting/);
    return true;
  });
  const missing = SandboxAgent.start({ command: [join(folder, "nothing")] });
  await assert.rejects(missing, /cannot run .*nothing.*put it on the PATH/);
});

test("two daemons do not share a folder, and the second says so", async () => {
  const options = optionsIn(temporaryFolder());
  const client = await SandboxAgent.start(options);
  await assert.rejects(SandboxAgent.start(options), /another daemon \(pid \d+\) uses .*: stop it, or give this one/);
  await client.close();
});

test("a daemon that does not stop is killed", async () => {
  const client = await SandboxAgent.start(optionsIn(temporaryFolder()));
  const { daemonPid } = client;
  assert.ok(daemonPid);
  process.kill(daemonPid, "SIGSTOP");
  await client.close();
  await isGone(daemonPid);
});
