/**
 * The package as a stranger gets it: packed, put into a project of its own, compiled strictly, run.
 *
 * The project holds the examples, every snippet of the docs, and a page for browsers.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { METHODS, type SandboxAgent, type Session } from "sandbox-agentd";
import { COMMAND, ROOT, temporaryFolder, TestDaemon, TOKEN } from "./daemons.js";

const run = promisify(execFile);
const SDK = fileURLToPath(new URL("..", import.meta.url));
const PAGES = ["docs/sdk-typescript.mdx", "docs/custom-tools.mdx"];
const PAGE = PAGES.map((page) => readFileSync(join(ROOT, page), "utf8")).join("\n");
const SNIPPETS = [...PAGE.matchAll(/^```ts\n([^]*?)^```$/gm)].map((found) => found[1] ?? "");

const project = temporaryFolder();
const daemon = await TestDaemon.running();
after(() => daemon.stop());

/** A snippet as a module: its imports, and the rest as a function of the client and a session. */
function moduleOf(snippet: string): string {
  const lines = snippet.replaceAll("http://127.0.0.1:2468", daemon.baseUrl).split("\n");
  const isImport = (line: string): boolean => line.startsWith("import ");
  return [
    'import type { SandboxAgent as Client, Session } from "sandbox-agentd";',
    ...lines.filter(isImport),
    "export default async function (client: Client, session: Session): Promise<void> {",
    // A block of its own, so that a snippet may name its own client.
    "  {",
    ...lines.filter((line) => !isImport(line)),
    "  }",
    "}",
  ].join("\n");
}

async function install(): Promise<void> {
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: SDK });
  const [tarball = ""] = readdirSync(project);
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "sandbox-agentd"), { recursive: true });
  await run("tar", ["xzf", tarball, "--strip-components=1", "-C", join(modules, "sandbox-agentd")], { cwd: project });
  for (const name of ["eventsource-parser", "@types"])
    symlinkSync(join(SDK, "node_modules", name), join(modules, name));
  cpSync(join(ROOT, "examples/typescript"), project, {
    recursive: true,
    filter: (path) => !["node_modules", "build"].includes(path.split("/").at(-1) ?? ""),
  });
  SNIPPETS.forEach((snippet, index) => writeFileSync(join(project, `snippet-${index}.ts`), moduleOf(snippet)));
  mkdirSync(join(project, "common"));
  writeFileSync(join(project, "common/program.cts"), COMMON_PROGRAM);
  writeFileSync(join(project, "common/tsconfig.json"), JSON.stringify(COMMON_OPTIONS));
  mkdirSync(join(project, "old"));
  writeFileSync(join(project, "old/program.ts"), OLD_PROGRAM);
  writeFileSync(join(project, "old/tsconfig.json"), JSON.stringify(OLD_OPTIONS));
  mkdirSync(join(project, "page"));
  writeFileSync(join(project, "page/page.ts"), BROWSER_PAGE);
  writeFileSync(join(project, "page/tsconfig.json"), JSON.stringify(BROWSER_OPTIONS));
}

/** A program in CommonJS, with the package's types checked and none of a browser; its client is closed with its block. */
const COMMON_OPTIONS = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2022"],
    module: "NodeNext",
    strict: true,
    types: ["node"],
    outDir: "../build",
  },
};
const COMMON_PROGRAM = `
import { type PermissionRequested, SandboxAgent, TurnFailed } from "sandbox-agentd";
async function main(): Promise<void> {
  await using client = await SandboxAgent.start();
  const onPermission = ({ metadata }: PermissionRequested) => metadata.kind === "command";
  const session = await client.sessions.create({ agent: "mock", onPermission });
  console.log((await session.prompt("permission a")).text);
  await session.prompt("error").then(undefined, (error: unknown) => console.log(error instanceof TurnFailed));
}
void main();
`;

/** A project with the resolution that knows no `exports`; the packages of the clouds are not installed. */
const OLD_OPTIONS = {
  compilerOptions: {
    target: "ES2022",
    module: "CommonJS",
    moduleResolution: "node10",
    strict: true,
    skipLibCheck: true,
    types: ["node"],
    noEmit: true,
  },
};
const { exports: ENTRIES } = JSON.parse(readFileSync(join(SDK, "package.json"), "utf8")) as { exports: object };
const OLD_PROGRAM = Object.keys(ENTRIES)
  .map((entry, index) => `import * as entry${index} from "sandbox-agentd${entry.slice(1)}"; void entry${index};`)
  .join("\n");

/** A page has no types of Node's, and checks the types of what it imports too. */
const BROWSER_OPTIONS = {
  compilerOptions: {
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "Bundler",
    strict: true,
    types: [],
    noEmit: true,
  },
};
const BROWSER_PAGE = `
import { SandboxAgent, foldTranscript, type Event } from "sandbox-agentd";
declare global { var baseUrl: string; var token: string; var finished: (value: unknown) => void }
async function main(): Promise<unknown> {
  const client = await SandboxAgent.connect({ baseUrl, token });
  const session = await client.sessions.create({ agent: "mock" });
  const events: Event[] = [];
  for await (const event of session.prompt("hello")) events.push(event);
  const refused = await SandboxAgent.start().catch((error: unknown) => String(error));
  return [foldTranscript(events).entries.flatMap((entry) => entry.kind === "message" ? [entry.text] : []), refused];
}
main().then(finished, finished);
`;

async function tsc(folder: string): Promise<string> {
  const compiled = await run(process.execPath, [join(SDK, "node_modules/typescript/bin/tsc"), "-p", folder]).catch(
    (failure: { stdout: string }) => failure,
  );
  return compiled.stdout;
}

await install();
const compiled = await Promise.all([".", "page", "common", "old"].map((folder) => tsc(join(project, folder))));

test("examples, snippets, a page, CommonJS and the resolution without exports compile strictly", () => {
  assert.deepEqual(compiled, ["", "", "", ""]);
});

test("a program in CommonJS runs, and ends with its client", async () => {
  assert.equal(await printed(example("program.cjs")), "The command said: a\ntrue\n");
});

// -- the docs ------------------------------------------------------------------------------------

test("every snippet of the docs runs", async (context) => {
  // The package that snippets import, not the one that this file does: errors are told apart by their class.
  const packed = pathToFileURL(join(project, "node_modules/sandbox-agentd/dist/index.js")).href;
  const { SandboxAgent } = (await import(packed)) as typeof import("sandbox-agentd");
  const client = await SandboxAgent.connect({ baseUrl: daemon.baseUrl, token: TOKEN });
  const { log } = console;
  const { write } = process.stdout;
  process.env.SANDBOX_AGENT_TOKEN = TOKEN;
  process.env.PATH = `${dirname(COMMAND[0])}:${process.env.PATH}`;
  process.chdir(project);
  for (const [index, snippet] of SNIPPETS.entries()) {
    await context.test(snippet.split("\n", 1)[0] ?? "", async () => {
      const session = await client.sessions.create({ agent: "mock" });
      const path = pathToFileURL(join(project, "build", `snippet-${index}.js`)).href;
      const module = (await import(path)) as { default: (client: SandboxAgent, session: Session) => Promise<void> };
      // What snippets print is not of interest here.
      console.log = () => {};
      process.stdout.write = () => true;
      try {
        await module.default(client, session);
      } finally {
        console.log = log;
        process.stdout.write = write;
      }
    });
  }
});

test("every method is in the docs", async () => {
  const client = await daemon.connect();
  const session = await client.sessions.create({ agent: "mock" });
  const methodsOf = (thing: object): string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(thing)).filter((name) => name !== "constructor");
  const wanted = [
    "SandboxAgent.connect(",
    "SandboxAgent.start(",
    "client.close(",
    ...Object.values(METHODS).map((name) => `client.${name}(`),
    ...methodsOf(client.processes).map((name) => `client.processes.${name}(`),
    "client.exec(",
    ...methodsOf(client.sessions).map((name) => `client.sessions.${name}(`),
    ...methodsOf(session).map((name) => `session.${name}(`),
  ];
  const shown = SNIPPETS.join("\n");
  assert.deepEqual(
    wanted.filter((call) => !shown.includes(call)),
    [],
  );
});

// -- the examples --------------------------------------------------------------------------------

/** An example that starts a daemon of its own. */
function example(name: string, ...words: string[]): ChildProcess {
  const folder = temporaryFolder();
  const PATH = `${dirname(COMMAND[0])}:${process.env.PATH}`;
  return spawn(process.execPath, [join(project, "build", name), ...words], {
    cwd: folder,
    env: { PATH, HOME: folder },
  });
}

async function printed(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (text += part));
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (text += part));
  child.stdin?.end();
  await once(child, "close");
  assert.equal(child.exitCode, 0, text);
  return text;
}

test("without arguments and input an example ends well", async () => {
  assert.equal(await printed(example("chat.js")), "");
  assert.match(await printed(example("approve-by-policy.js")), /^accept/);
});

test("the chat answers and asks", { timeout: 120_000 }, async () => {
  const child = example("chat.js", "mock");
  let text = "";
  // What to type when something was printed; the answer comes in pieces.
  const dialogue: [string, string][] = [
    ["allow bash:", "yes\n"],
    ["The command said: a\n", "hello\n"],
    ["You said: hello", ""],
  ];
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    const [wanted, typed] = dialogue[0] ?? ["", ""];
    if (!wanted || !text.includes(wanted)) return;
    dialogue.shift();
    if (typed) child.stdin?.write(typed);
    else child.stdin?.end();
  });
  child.stdin?.write("permission a\n");
  await once(child, "close");
  assert.equal(child.exitCode, 0);
  assert.match(text, /allow bash: echo a\?[^]*The command said: a\nYou said: hello \(message 2 of this conversation\)\n/);
});

test("the policy lets a harmless command and an edit pass, and nothing else", async () => {
  const text = await printed(example("approve-by-policy.js", "mock", "permission a", "edit", "permission a; rm -r /"));
  const decisions = text
    .trim()
    .split("\n")
    .map((line) => line.split(":")[0]);
  assert.deepEqual(decisions, ["accept", "accept", "reject"]);
});

test("the agent calls the function of the example with tools", async () => {
  const prompts = ["Bonn", "Rome"].map((city) => `call opening_hours {"city": "${city}"}`);
  const text = await printed(example("tools.js", "mock", ...prompts));
  assert.equal(
    text,
    'opening_hours returned: {"opens":9,"closes":18}\nopening_hours failed: RangeError: there is no shop in Rome\n',
  );
});

test("the batch gives a row for each agent and prompt", async () => {
  const text = await printed(example("batch.js", "mock,mock,mock", "hello", "error"));
  assert.equal(text.match(/You said: hello/g)?.length, 3);
  assert.equal(text.match(/'error' +│ 'error'/g)?.length, 3);
});

// -- browsers ------------------------------------------------------------------------------------

test("a bundle for browsers needs nothing of Node's", async () => {
  const { outputFiles, warnings } = await build({
    entryPoints: [join(project, "page/page.ts")],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  // What a browser has, and no more: no process, no require, no import.
  const { fetch, URL, URLSearchParams, TextDecoder, AbortController, Blob, performance } = globalThis;
  // A page that is served over plain HTTP has no more of it.
  const crypto = { getRandomValues: (array: Uint8Array<ArrayBuffer>) => globalThis.crypto.getRandomValues(array) };
  const timers = { setTimeout, clearTimeout, console };
  const finished = await new Promise((resolve) => {
    const window = { fetch, URL, URLSearchParams, TextDecoder, AbortController, crypto, Blob, performance, ...timers };
    runInNewContext(outputFiles[0]?.text ?? "", {
      ...window,
      baseUrl: daemon.baseUrl,
      token: TOKEN,
      finished: resolve,
    });
  });
  assert.deepEqual(JSON.parse(JSON.stringify(finished)), [
    ["hello", "You said: hello (message 1 of this conversation)"],
    "WrongUsage: a browser or worker cannot start a daemon: run `sandbox-agent server` and use SandboxAgent.connect({ baseUrl, token })",
  ]);
});
