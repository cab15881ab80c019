// Drives every desktop method of the published client but those for WebRTC, unmodified, and prints what it was answered.
//   node published_desktop.mjs CLIENT_FOLDER ENDPOINT TOKEN PYTHON FORM STATE_FILE
import { strict as assert } from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, baseUrl, token, python, form, state] = process.argv.slice(2);
const { SandboxAgent } = await import(pathToFileURL(`${folder}/dist/index.js`));
const client = await SandboxAgent.connect({ baseUrl, token });

const problem = async (promise) => {
  const error = await promise.then(() => assert.fail("it was not refused"), (error) => error);
  assert.equal(error.problem.status, error.status);
  return [error.status, error.problem.type.split(":").pop(), error.problem.code, error.problem.field];
};
const until = async (holds) => {
  for (let tries = 0; tries < 1500; tries += 1) {
    const found = await holds();
    if (found) return found;
    await new Promise((go) => setTimeout(go, 20));
  }
  return assert.fail(`it never was so: ${holds}`);
};
const written = () => (existsSync(state) ? JSON.parse(readFileSync(state, "utf8")) : {});
const head = (bytes) => Buffer.from(bytes.slice(0, 3)).toString("hex");
const said = {};

// Before it is started.
said.inactive = await client.getDesktopStatus();
said.early = await problem(client.takeDesktopScreenshot());
said.zero = await problem(client.startDesktop({ width: 0, height: 600 }));
said.noStream = await problem(client.startDesktopStream());
said.streamOff = [await client.getDesktopStreamStatus(), await client.stopDesktopStream()];

// Start and stop.
const started = await client.startDesktop({ width: 800, height: 600, dpi: 96, recordingFps: 10 });
assert.match(started.display, /^:\d+$/);
said.started = [started.state, started.resolution, started.processes.map(({ name, running }) => [name, running])];
said.again = (await client.startDesktop({ width: 1024, height: 768 })).resolution;
assert.deepEqual(await client.getDesktopDisplayInfo(), { display: started.display, resolution: started.resolution });

// Programs and windows.
said.noFocus = await problem(client.getDesktopFocusedWindow());
said.noApp = await problem(client.launchDesktopApp({ app: "no-such-program" }));
said.noTarget = await problem(client.openDesktopTarget({ target: "--help" }));
const launched = await client.launchDesktopApp({ app: python, args: [form, state], wait: true });
said.launched = [typeof launched.pid, launched.processId.slice(0, 5)];
const { windows } = await client.listDesktopWindows();
assert.deepEqual(windows.map((window) => window.id), [launched.windowId]);
await client.focusDesktopWindow(launched.windowId);
await client.moveDesktopWindow(launched.windowId, { x: 100, y: 120 });
const window = await client.resizeDesktopWindow(launched.windowId, { width: 500, height: 260 });
said.window = { ...window, id: typeof window.id };
said.focused = (await client.getDesktopFocusedWindow()).id === launched.windowId;
said.noWindow = await problem(client.focusDesktopWindow("1"));
said.listed = (await client.listProcesses({ owner: "desktop" })).processes.map(({ command }) => command.split("/").pop());

// A form is filled in and read back.
const at = (x, y) => ({ x: window.x + x, y: window.y + y });
await client.clickDesktop(at(100, 40));
await client.typeDesktopText({ text: "Grüße, Ωμέγα 世界 €" });
await until(() => written().text === "Grüße, Ωμέγα 世界 €");
await client.pressDesktopKey({ key: "a", modifiers: { ctrl: true } });
await client.setDesktopClipboard({ text: "kopiert ✓" });
said.clipboard = await client.getDesktopClipboard();
await client.pressDesktopKey({ key: "End" });
await client.keyDownDesktop({ key: "shift" });
await client.pressDesktopKey({ key: "x" });
await client.keyUpDesktop({ key: "shift" });
await client.pressDesktopKey({ key: "ctrl+v" });
said.text = (await until(() => written().text?.endsWith("✓") && written())).text;
said.clicked = await client.clickDesktop({ ...at(60, 170), button: "left", clickCount: 2 });
await until(() => written().pressed === 2);
await client.mouseDownDesktop(at(60, 170));
await client.mouseUpDesktop({});
await until(() => written().pressed === 3);
said.moved = await client.moveDesktopMouse({ x: 5, y: 6 });
said.position = await client.getDesktopMousePosition();
said.scrolled = await client.scrollDesktop({ ...at(60, 170), deltaY: 3 });
const dragged = await client.dragDesktopMouse({ startX: window.x + 200, startY: window.y - 8, endX: 400, endY: 200 });
said.dragged = [dragged.x, dragged.y];
await until(async () => (await client.listDesktopWindows()).windows[0].x !== window.x);
said.outside = await problem(client.moveDesktopMouse({ x: 800, y: 0 }));
said.negative = await problem(client.moveDesktopMouse({ x: -1, y: 0 }));
said.noClicks = await problem(client.clickDesktop({ x: 1, y: 1, clickCount: 0 }));
said.noText = await problem(client.typeDesktopText({ text: "" }));
said.noKey = await problem(client.pressDesktopKey({ key: "" }));
said.unknownKey = await problem(client.pressDesktopKey({ key: "no-such-key" }));
said.selection = await problem(client.getDesktopClipboard({ selection: "other" }));

// Pictures.
said.pictures = [
  head(await client.takeDesktopScreenshot()),
  head(await client.takeDesktopScreenshot({ format: "jpeg", quality: 50 })),
  head(await client.takeDesktopScreenshot({ format: "webp", scale: 0.5, showCursor: true })),
];
const region = Buffer.from(await client.takeDesktopRegionScreenshot({ x: 10, y: 20, width: 30, height: 40 }));
said.region = [region.readUInt32BE(16), region.readUInt32BE(20)];
said.noRegion = await problem(client.takeDesktopRegionScreenshot({ x: 0, y: 0, width: 0, height: 9 }));
said.tooWide = await problem(client.takeDesktopRegionScreenshot({ x: 700, y: 0, width: 101, height: 9 }));
said.tooSmall = await problem(client.takeDesktopScreenshot({ scale: 0.05 }));

// Recordings.
said.notRecording = await problem(client.stopDesktopRecording());
const recording = await client.startDesktopRecording();
said.recording = [recording.id, recording.fileName, recording.status];
said.second = await problem(client.startDesktopRecording({ fps: 5 }));
said.busy = await problem(client.deleteDesktopRecording(recording.id));
await until(async () => (await client.getDesktopRecording(recording.id)).bytes > 4096);
const stopped = await client.stopDesktopRecording();
const video = Buffer.from(await client.downloadDesktopRecording(recording.id));
assert.equal(video.length, stopped.bytes);
said.video = [stopped.status, video.subarray(4, 8).toString()];
said.recordings = (await client.listDesktopRecordings()).recordings.map(({ id }) => id);
await client.deleteDesktopRecording(recording.id);
said.noRecording = await problem(client.getDesktopRecording(recording.id));

// The live view: on and off.
const stream = await client.startDesktopStream();
assert.deepEqual(await client.getDesktopStreamStatus(), stream);
said.stream = [stream.active, (await client.stopDesktopStream()).active];

said.stopped = [await client.stopDesktop(), await client.stopDesktop()];
said.left = (await client.listProcesses({ owner: "desktop" })).processes.filter(({ status }) => status === "running");
console.log(JSON.stringify(said));
