// Every method for files of the published client, on a daemon and with a home folder that are given.
import assert from "node:assert/strict";

const [, , module, baseUrl, token, home] = process.argv;
const { SandboxAgent, SandboxAgentError } = await import(module);
const client = await SandboxAgent.connect({ baseUrl, token });
const called = new Set();
const fs = new Proxy(client, {
  get: (target, name) => {
    called.add(name);
    return target[name].bind(target);
  },
});

const refused = async (promise) => {
  const error = await promise.then(() => assert.fail("it was not refused"), (error) => error);
  assert.ok(error instanceof SandboxAgentError, String(error));
  return [error.status, error.problem.type.split(":").pop()];
};
const text = (bytes) => new TextDecoder().decode(bytes);

// Paths are relative to the home folder, and parents are made.
assert.deepEqual(await fs.mkdirFs({ path: "made/deep" }), { path: `${home}/made/deep` });
assert.deepEqual(await fs.mkdirFs({ path: "made/deep" }), { path: `${home}/made/deep` });
const written = await fs.writeFsFile({ path: "made/new/hello.txt" }, "hello");
assert.equal(written.path, `${home}/made/new/hello.txt`);
assert.equal(written.bytesWritten, 5);
assert.equal(text(await fs.readFsFile({ path: "made/new/hello.txt" })), "hello");
assert.equal(text(await fs.readFsFile({ path: `${home}/made/deep/../new/hello.txt` })), "hello");

const large = new Uint8Array(5 << 20).fill(7);
await fs.writeFsFile({ path: "made/large.bin" }, large);
assert.deepEqual(await fs.readFsFile({ path: "made/large.bin" }), large);
await fs.writeFsFile({ path: "made/empty" }, new Uint8Array());
assert.equal((await fs.readFsFile({ path: "made/empty" })).length, 0);

const stat = await fs.statFs({ path: "made/new/hello.txt" });
assert.equal(stat.entryType, "file");
assert.equal(stat.size, 5);
assert.match(stat.modified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\+00:00$/);
assert.equal((await fs.statFs({ path: "made" })).entryType, "directory");

const entries = await fs.listFsEntries({ path: "made" });
assert.deepEqual(
  entries.map(({ name, path, entryType, size }) => [name, path, entryType, entryType === "file" ? size : 0]),
  [
    ["deep", `${home}/made/deep`, "directory", 0],
    ["empty", `${home}/made/empty`, "file", 0],
    ["large.bin", `${home}/made/large.bin`, "file", 5 << 20],
    ["new", `${home}/made/new`, "directory", 0],
  ],
);
assert.ok((await fs.listFsEntries()).some((entry) => entry.name === "made"));

// Moves: never over something unless told so, and then nothing is lost.
assert.deepEqual(await fs.moveFs({ from: "made/new/hello.txt", to: "moved/to/hello.txt" }), {
  from: `${home}/made/new/hello.txt`,
  to: `${home}/moved/to/hello.txt`,
});
assert.deepEqual(await refused(fs.moveFs({ from: "moved/to/hello.txt", to: "made/empty" })), [400, "invalid_request"]);
assert.deepEqual(await refused(fs.moveFs({ from: "gone", to: "made/empty", overwrite: true })), [400, "invalid_request"]);
assert.equal((await fs.statFs({ path: "made/empty" })).size, 0);
await fs.moveFs({ from: "moved/to/hello.txt", to: "made/empty", overwrite: true });
await fs.moveFs({ from: "made/empty", to: "made/empty", overwrite: true });
assert.equal(text(await fs.readFsFile({ path: "made/empty" })), "hello");
await fs.moveFs({ from: "moved", to: "made", overwrite: true });
assert.deepEqual((await fs.listFsEntries({ path: "made" })).map((entry) => entry.name), ["to"]);

// A tar of one folder and one file, made by hand.
const header = (name, size, kind, mode) => {
  const block = new Uint8Array(512);
  const put = (place, words) => block.set(new TextEncoder().encode(words), place);
  put(0, name), put(100, `${mode}\0`), put(108, "0000000\0"), put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`), put(136, "00000000000\0"), put(148, "        ");
  put(156, kind), put(257, "ustar\0"), put(263, "00");
  put(148, `${block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `);
  return block;
};
const content = new Uint8Array(512);
content.set(new TextEncoder().encode("#!/bin/sh\n"));
const tar = new Blob([header("bin/", 0, "5", "0000755"), header("bin/run.sh", 10, "0", "0000755"), content, new Uint8Array(1024)]);
assert.deepEqual(await fs.uploadFsBatch(tar, { path: "unpacked" }), {
  paths: [`${home}/unpacked/bin`, `${home}/unpacked/bin/run.sh`],
  truncated: false,
});
assert.deepEqual(await refused(fs.uploadFsBatch("no archive", { path: "unpacked" })), [400, "invalid_request"]);

// What is not there, or not that, is a 400 that says so.
for (const attempt of [
  () => fs.statFs({ path: "gone" }),
  () => fs.readFsFile({ path: "gone" }),
  () => fs.readFsFile({ path: "made" }),
  () => fs.listFsEntries({ path: "unpacked/bin/run.sh" }),
  () => fs.listFsEntries({ path: "../up" }),
  () => fs.deleteFsEntry({ path: "gone" }),
  () => fs.deleteFsEntry({ path: "unpacked" }),
  () => fs.writeFsFile({ path: "unpacked/bin" }, "x"),
  () => fs.mkdirFs({ path: "unpacked/bin/run.sh" }),
]) {
  assert.deepEqual(await refused(attempt()), [400, "invalid_request"]);
}
assert.deepEqual(await fs.deleteFsEntry({ path: "unpacked/bin/run.sh" }), { path: `${home}/unpacked/bin/run.sh` });
await fs.deleteFsEntry({ path: "unpacked/bin" });
await fs.deleteFsEntry({ path: "made", recursive: true });
assert.deepEqual(await refused(fs.statFs({ path: "made" })), [400, "invalid_request"]);

const methods = [];
for (let one = client; one !== Object.prototype; one = Object.getPrototypeOf(one)) {
  methods.push(...Object.getOwnPropertyNames(one).filter((name) => /Fs([A-Z]|$)/.test(name)));
}
assert.deepEqual(methods.filter((name) => !called.has(name)), []);
console.log(methods.length);
await client.dispose();
process.exit(0);
