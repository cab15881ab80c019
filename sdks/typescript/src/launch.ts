/** Puts the daemon into a sandbox and starts it there, with nothing but a shell and files. */
import type { Deadline } from "./deadline.js";
import { DaemonNotStarted } from "./errors.js";
import { lastLines } from "./lastLines.js";
import type { SandboxRequest } from "./sandbox.js";

/** What a provider must be able to do in a sandbox. */
export interface Shell {
  /** Run a command line of `sh` to its end. Does not throw because of its exit code. */
  run(command: string, env: Readonly<Record<string, string>>): Promise<Ran>;
  readFile(path: string): Promise<string>;
  /** Copy a file of this machine to a path there. Absent where this program has no files, as in a Worker. */
  upload?(file: string, path: string): Promise<unknown>;
}

export interface Ran {
  readonly exitCode: number;
  /** A provider that does not distinguish the two has everything in `stdout`. */
  readonly stdout: string;
  readonly stderr: string;
}

/** How the daemon gets into a sandbox that does not contain it. */
export interface InstallOptions {
  /** The single file for Linux (`make dist`), which is copied into the sandbox. */
  binary?: string | undefined;
  /** A command line that installs `sandbox-agent` in the sandbox, e.g. with pip. */
  install?: string | undefined;
}

export interface LaunchOptions extends InstallOptions {
  readonly port: number;
  readonly host?: string;
  /** How to run it (default: `sandbox-agent`). */
  readonly program?: string;
  readonly dataDir?: string;
}

/** The port inside a sandbox, unless the provider is given another. */
export const PORT = 2468;

const PATH = 'PATH="$HOME/.local/bin:$PATH"; export PATH;';

interface DaemonState {
  readonly endpoint: string;
  readonly token: string | null;
}

/**
 * Start the daemon, unless it is running, and return its address inside the sandbox and its token.
 *
 * The daemon generates the token itself and leaves it in a file that only its user can read. So the token is never part of
 * a command line, and two programs that start the same sandbox at once get the same one.
 */
export async function launch(
  shell: Shell,
  request: Pick<SandboxRequest, "cwd" | "env" | "flags" | "deadline">,
  options: LaunchOptions,
): Promise<{ endpoint: string; token: string }> {
  const { deadline } = request;
  const program = options.program ?? "sandbox-agent";
  if (options.program === undefined) await install(shell, options, deadline);
  const place = options.dataDir === undefined ? "" : ` --data-dir ${quoted(options.dataDir)}`;
  const flags = ["--host", options.host ?? "0.0.0.0", "--port", String(options.port), ...request.flags].map(quoted).join(" ");
  const there = request.cwd === undefined ? "" : `mkdir -p ${quoted(request.cwd)} && cd ${quoted(request.cwd)} &&`;
  const start = `${program} daemon start${place} ${flags} >&2 && ${program} daemon status${place} --json`;
  const ran = await finished(shell, `${PATH} ${there} ${start}`, request.env, deadline, "the daemon did not start");
  const dataDir = dataDirOf(ran.stdout);
  const text = await deadline.wait(shell.readFile(`${dataDir}/daemon.json`), "reading the daemon's address");
  const state = JSON.parse(text) as DaemonState;
  if (state.token === null) {
    throw new DaemonNotStarted("the sandbox starts a daemon by itself, with a token that only you know: use SandboxAgent.connect()");
  }
  return { endpoint: state.endpoint, token: state.token };
}

async function install(shell: Shell, options: InstallOptions, deadline: Deadline): Promise<void> {
  const look = `${PATH} command -v sandbox-agent >/dev/null && echo present; echo "home=$HOME"`;
  const found = (await finished(shell, look, {}, deadline, "the sandbox has no shell")).stdout;
  if (/^present$/m.test(found)) return;
  if (options.binary !== undefined && shell.upload !== undefined) {
    const folder = `${/^home=(.+)$/m.exec(found)?.[1] ?? "/root"}/.local/bin`;
    await finished(shell, `mkdir -p ${quoted(folder)}`, {}, deadline, `cannot write to ${folder}`);
    // Half a file must not be taken for the program.
    const part = `${folder}/sandbox-agent.part`;
    await deadline.wait(shell.upload(options.binary, part), `copying ${options.binary} into the sandbox`);
    const place = `chmod 755 ${quoted(part)} && mv ${quoted(part)} ${quoted(`${folder}/sandbox-agent`)}`;
    await finished(shell, place, {}, deadline, "the daemon cannot be installed");
  } else if (options.install !== undefined) {
    await finished(shell, `${PATH} ${options.install}`, {}, deadline, "the daemon cannot be installed");
  } else {
    throw new DaemonNotStarted(
      "the sandbox does not contain sandbox-agent: use an image or template that does, or say how to install it with " +
        "`binary` (the single file of `make dist`) or `install` (a command)",
    );
  }
}

async function finished(
  shell: Shell,
  command: string,
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
  problem: string,
): Promise<Ran> {
  const ran = await deadline.wait(shell.run(command, env), "a command in the sandbox");
  if (ran.exitCode === 0) return ran;
  const output = lastLines(`${ran.stderr}\n${ran.stdout}`);
  throw new DaemonNotStarted(`${problem}:\n${output || `exit code ${ran.exitCode}`}`);
}

/** From the answer of `daemon status`, which comes last. */
function dataDirOf(output: string): string {
  for (const line of output.trim().split("\n").reverse()) {
    try {
      const { dataDir } = JSON.parse(line) as { dataDir?: unknown };
      if (typeof dataDir === "string") return dataDir;
    } catch {
      // A line of something else.
    }
  }
  throw new DaemonNotStarted(`the daemon did not report where its files are:\n${output.slice(-500)}`);
}

/** A word for `sh`. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
