/**
 * Sandboxes as containers of a Docker engine, one for each name, with two named volumes that outlive them.
 *
 * The Python SDK uses the same names, so each finds the sandboxes of the other.
 */
import { Deadline } from "./deadline.js";
import { type Container, Engine, EngineRefused } from "./engine.js";
import { DaemonNotStarted } from "./errors.js";
import { pause as sleep } from "./http.js";
import { randomHex } from "./ids.js";
import { SHOWN_LINES } from "./lastLines.js";
import { PORT } from "./launch.js";
import { removedIfItFails, type Sandbox, type SandboxProvider, type SandboxRequest } from "./sandbox.js";
import { archiveOf, firstFileOf } from "./tar.js";

export interface DockerOptions {
  /** The image, as built by the Dockerfile of sandbox-agent (default: `sandbox-agent`). */
  image?: string | undefined;
  /** The engine's socket (default: that of `DOCKER_HOST`, or `/var/run/docker.sock`). */
  socket?: string | undefined;
  /** The network of the container (default: Docker's default). */
  network?: string | undefined;
}

const GROUP = "sdk";
/** Where the image keeps what must outlive a container. */
const HOME = "/data";
const WORKSPACE = "/workspace";
/** The user of the image. */
const USER = 1000;
const PUBLISHED = `${PORT}/tcp`;
const STOP_SECONDS = 45;
const DRAIN_SECONDS = 30;
const POLL_MS = 100;
/** Another program that has created a container starts it at once; if not, that program is gone. */
const ABANDONED_MS = 10_000;

export function docker(options: DockerOptions = {}): SandboxProvider {
  const engine = new Engine(options.socket ?? socketOf(process.env.DOCKER_HOST));
  return { name: "docker", start: (request) => new DockerSandbox(engine, options, request).start() };
}

class DockerSandbox {
  readonly #container: string;
  readonly #volumes: readonly [home: string, work: string];
  readonly #deadline: Deadline;

  constructor(
    readonly engine: Engine,
    readonly options: DockerOptions,
    readonly request: SandboxRequest,
  ) {
    this.#container = `sandbox-agent-${GROUP}.${request.name}`;
    this.#volumes = [`${this.#container}-home`, `${this.#container}-work`];
    this.#deadline = request.deadline;
  }

  async start(): Promise<Sandbox> {
    const isNew = !(await this.engine.hasVolume(this.#volumes[0], this.#deadline));
    const kill = () => this.#kill();
    const pause = () => this.#pause();
    return removedIfItFails({ isNew, kill }, async () => {
      const container = await this.#running();
      const port = container.NetworkSettings.Ports?.[PUBLISHED]?.[0]?.HostPort;
      if (port === undefined) throw new DaemonNotStarted("the container publishes no port: use another `network`");
      const token = firstFileOf(await this.engine.get(this.#container, "/run/sandbox-agent/token", this.#deadline));
      const check = () => this.#check();
      return { baseUrl: `http://127.0.0.1:${port}`, token: token.trim(), isNew, check, pause, kill };
    });
  }

  async #running(): Promise<Container> {
    let wasStarted = false;
    let waiting: Deadline | null = null;
    while (!this.#deadline.hasPassed) {
      const found = await this.engine.container(this.#container, this.#deadline);
      const status = found?.State.Status;
      if (found !== null && status === "running") return found;
      if (found === null) {
        // If another program was faster, look at what it has created.
        wasStarted = (await this.#create()) || wasStarted;
      } else if (status === "created") {
        waiting ??= new Deadline(ABANDONED_MS);
        if (waiting.hasPassed) await this.engine.remove(this.#container, this.#deadline);
      } else if (wasStarted) {
        throw await this.#ended();
      } else {
        await this.engine.remove(this.#container, this.#deadline);
      }
      await sleep(POLL_MS);
    }
    throw new DaemonNotStarted(`container ${this.#container} did not start within ${this.#deadline.milliseconds / 1000} s`);
  }

  /** Create a container, put a fresh token into it as a file, which no list of containers shows, and start it. */
  async #create(): Promise<boolean> {
    const labels = { "sandbox-agent.fleet": GROUP, "sandbox-agent.node": this.request.name };
    for (const volume of this.#volumes) await this.engine.createVolume(volume, labels, this.#deadline);
    try {
      if (!(await this.engine.create(this.#container, this.#settings(labels), this.#deadline))) return false;
    } catch (error) {
      if (!(error instanceof EngineRefused) || error.code !== 404) throw error;
      throw new DaemonNotStarted(
        `docker has no image ${this.#image}: build it with \`docker build -t ${this.#image} .\` in a checkout of sandbox-agent, or name another`,
      );
    }
    await this.engine.put(this.#container, "/run", archiveOf("sandbox-agent", "token", randomHex(32), USER), this.#deadline);
    await this.engine.start(this.#container, this.#deadline);
    return true;
  }

  #settings(labels: Record<string, string>): object {
    const ours = ["--node-name", this.request.name, "--drain-seconds", String(DRAIN_SECONDS)];
    const [home, work] = this.#volumes;
    return {
      Image: this.#image,
      Cmd: ["server", ...ours, "--token-file", "/run/sandbox-agent/token", ...this.request.flags],
      Env: Object.entries({
        SANDBOX_AGENT_HOST: "0.0.0.0",
        SANDBOX_AGENT_PORT: String(PORT),
        ...this.request.env,
      }).map(([name, value]) => `${name}=${value}`),
      WorkingDir: this.request.cwd ?? WORKSPACE,
      Labels: labels,
      ExposedPorts: { [PUBLISHED]: {} },
      HostConfig: {
        Mounts: [
          { Type: "volume", Source: home, Target: HOME },
          { Type: "volume", Source: work, Target: WORKSPACE },
        ],
        // Only this machine can connect; the engine chooses the port.
        PortBindings: { [PUBLISHED]: [{ HostIp: "127.0.0.1", HostPort: "" }] },
        NetworkMode: this.options.network ?? "default",
      },
      StopTimeout: STOP_SECONDS,
    };
  }

  /** A daemon that cannot start ends, and its container with it. */
  async #check(): Promise<void> {
    const found = await this.engine.container(this.#container, this.#deadline);
    if (found?.State.Status !== "running") throw await this.#ended();
  }

  async #ended(): Promise<DaemonNotStarted> {
    const output = await this.engine.logs(this.#container, SHOWN_LINES, this.#deadline).catch(() => "");
    await this.engine.remove(this.#container, this.#deadline);
    return new DaemonNotStarted(`the daemon did not start:\n${output.trim() || "the container ended without output"}`);
  }

  /** The container goes, and its volumes stay. */
  async #pause(): Promise<void> {
    const deadline = new Deadline((STOP_SECONDS + 15) * 1000);
    await this.engine.stop(this.#container, STOP_SECONDS, deadline);
    await this.engine.remove(this.#container, deadline);
  }

  async #kill(): Promise<void> {
    const deadline = new Deadline(STOP_SECONDS * 1000);
    await this.engine.remove(this.#container, deadline);
    // The first volume tells that the sandbox exists, so it goes last: what fails halfway can be deleted again.
    for (const volume of [...this.#volumes].reverse()) await this.engine.removeVolume(volume, deadline);
  }

  get #image(): string {
    return this.options.image ?? "sandbox-agent";
  }
}

function socketOf(host: string | undefined): string {
  if (host === undefined || host === "") return "/var/run/docker.sock";
  if (host.startsWith("unix://")) return host.slice("unix://".length);
  throw new DaemonNotStarted(`DOCKER_HOST is ${host}: only an engine on this machine (unix://) is supported`);
}
