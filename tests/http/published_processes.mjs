// Drives every process method of the published client, unmodified, and prints what it was answered.
//   node --experimental-websocket published_processes.mjs CLIENT_FOLDER ENDPOINT TOKEN
import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";

const [folder, baseUrl, token] = process.argv.slice(2);
const { SandboxAgent } = await import(pathToFileURL(`${folder}/dist/index.js`));
const client = await SandboxAgent.connect({ baseUrl, token });

const text = (data) => Buffer.from(data, "base64").toString();
const shell = (script, more = {}) => ({ command: "sh", args: ["-c", script], ...more });
const problem = async (promise) => {
  const error = await promise.then(() => assert.fail("it was not refused"), (error) => error);
  assert.equal(error.problem.status, error.status);
  return [error.status, error.problem.type.split(":").pop(), error.problem.field];
};
const said = {};

// Limits.
said.config = await client.getProcessConfig();
said.clamped = await client.setProcessConfig({ ...said.config, defaultRunTimeoutMs: 400_000 });
said.zero = await problem(client.setProcessConfig({ ...said.config, maxOutputBytes: 0 }));
await client.setProcessConfig(said.config);

// Run.
said.run = await client.runProcess(shell("echo out; echo err >&2; echo $A; exit 3", { env: { A: "é" }, cwd: "/" }));
said.cut = await client.runProcess(shell("printf 12345", { maxOutputBytes: 3 }));
said.late = await client.runProcess(shell("echo early; sleep 60 & exec sleep 60", { timeoutMs: 300 }));
assert.ok(said.late.durationMs < 30_000, `a timeout of 300 ms took ${said.late.durationMs} ms`);

// A process and its logs.
const made = await client.createProcess(shell("echo one; cat; echo two >&2; exit 5", { interactive: true }));
said.made = { ...made, createdAtMs: typeof made.createdAtMs, pid: typeof made.pid };
const followed = [];
const stream = await client.followProcessLogs(made.id, (entry) => followed.push(entry));
said.listed = (await client.listProcesses({ owner: "user" })).processes.map((one) => one.id);
said.ofDesktop = (await client.listProcesses({ owner: "desktop" })).processes;
said.input = await client.sendProcessInput(made.id, { data: Buffer.from("typed\n").toString("base64") });
said.plain = await client.sendProcessInput(made.id, { data: "text\n", encoding: "utf8" });
said.notBase64 = await problem(client.sendProcessInput(made.id, { data: "?" }));
said.noEncoding = await problem(client.sendProcessInput(made.id, { data: "", encoding: "latin" }));
said.tooLong = await problem(client.sendProcessInput(made.id, { data: "x".repeat(70_000), encoding: "text" }));
said.resizePipe = await problem(client.resizeProcessTerminal(made.id, { cols: 9, rows: 9 }));
said.deleteRunning = await problem(client.deleteProcess(made.id));
while (!followed.some((entry) => text(entry.data).includes("text"))) await new Promise((go) => setTimeout(go, 10));
said.stopped = (await client.stopProcess(made.id, { waitMs: 5000 })).status;
await stream.closed;
said.followed = followed.map((entry) => text(entry.data)).join("");
const logs = await client.getProcessLogs(made.id);
assert.deepEqual(logs.entries, followed);
said.streams = logs.stream;
said.tail = (await client.getProcessLogs(made.id, { tail: 1 })).entries.length;
said.since = (await client.getProcessLogs(made.id, { since: 1, stream: "stderr" })).entries;
const gone = await client.getProcess(made.id);
said.gone = [gone.status, gone.exitCode, gone.pid, typeof gone.exitedAtMs];
said.inputGone = await problem(client.sendProcessInput(made.id, { data: "" }));
await client.deleteProcess(made.id);
said.unknown = await problem(client.getProcess(made.id));

// One that does not care for SIGTERM.
const stubborn = await client.createProcess(shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"));
while (!(await client.getProcessLogs(stubborn.id)).entries.length);
said.ignored = (await client.stopProcess(stubborn.id, { waitMs: 0 })).status;
said.killed = (await client.killProcess(stubborn.id)).status;

// Refusals.
said.noProgram = await problem(client.createProcess({ command: "no-such-program" }));
said.noFolder = await problem(client.createProcess({ command: "true", cwd: "/no/such/folder" }));
said.noCommand = await problem(client.runProcess({ command: "" }));
await client.setProcessConfig({ ...said.config, maxConcurrentProcesses: 1 });
const only = await client.createProcess({ command: "cat" });
said.tooMany = await problem(client.createProcess({ command: "cat" }));
await client.killProcess(only.id);
await client.setProcessConfig(said.config);

// A terminal.
const shown = await client.createProcess(shell("stty size; read line; stty size; echo got $line; exit 7", { tty: true }));
assert.ok(client.buildProcessTerminalWebSocketUrl(shown.id).startsWith("ws://"));
const terminal = client.connectProcessTerminal(shown.id);
const [screen, errors, exits, readies] = [[], [], [], []];
terminal.onReady((frame) => readies.push(frame));
terminal.onData((bytes) => screen.push(Buffer.from(bytes)));
terminal.onError((error) => errors.push(error.message));
terminal.onExit((frame) => exits.push(frame.exitCode));
const until = async (wanted) => {
  while (!Buffer.concat(screen).toString().includes(wanted)) await new Promise((go) => setTimeout(go, 5));
};
await until("24 80");
terminal.sendFrame({ type: "dance" });
terminal.resize({ cols: 90, rows: 22 });
said.resized = await client.resizeProcessTerminal(shown.id, { cols: 91, rows: 23 });
terminal.sendInput(new TextEncoder().encode("x"));
terminal.sendInput("y\n");
await terminal.closed;
said.screen = Buffer.concat(screen).toString();
said.exits = exits;
said.ready = readies.map((frame) => frame.processId === shown.id);
said.frameError = errors.length;

// Somebody who looks when it is over.
const later = client.connectProcessTerminal(shown.id);
const again = [];
later.onData((bytes) => again.push(Buffer.from(bytes)));
await later.closed;
assert.equal(Buffer.concat(again).toString(), said.screen);
said.resizeGone = await problem(client.resizeProcessTerminal(shown.id, { cols: 9, rows: 9 }));

await client.dispose();
console.log(JSON.stringify(said));
