/** The example on the engine of `DOCKER_HOST` if that is set, and on a stand-in otherwise. */
import { request } from "node:http";
import { SandboxAgent } from "sandbox-agentd";
import { docker } from "sandbox-agentd/docker";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONVERSATION, printedBy } from "../story.js";
import { main } from "./main.js";
import { startEngine, type StandIn } from "./stand-in.js";

const { DOCKER_HOST } = process.env;

test.runIf(DOCKER_HOST)("on Docker, the conversation continues after a stop", async () => {
  expect(await printedBy(() => main(docker(), "mock"))).toEqual(CONVERSATION);
});

describe.skipIf(DOCKER_HOST)("on a stand-in", () => {
  let engine: StandIn;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());

  test("the conversation continues after a stop, and nothing is left", async () => {
    expect(await printedBy(() => main(docker({ socket: engine.socket }), "mock"))).toEqual(CONVERSATION);
    expect(await left(engine.socket)).toEqual({ containers: [], volumes: null });
  });

  test("a container runs the daemon of the image, as its user", async (context) => {
    if (!engine.runsImage) context.skip("this machine cannot build the image");
    await using client = await SandboxAgent.start({ sandbox: docker({ socket: engine.socket }) });
    const ran = await client.processes.run({ command: "sh", args: ["-c", "id -u; command -v sandbox-agent; touch /etc/x"] });
    expect(ran.stdout.split("\n")).toEqual(["1000", "/opt/sandbox-agent/bin/sandbox-agent", ""]);
    expect(ran.stderr).toContain("Read-only file system");
  });

  test("a container is found while it runs, with the same token, which the engine does not tell", async () => {
    const options = { sandbox: docker({ socket: engine.socket }), name: "shared" };
    const [first, second] = await Promise.all([SandboxAgent.start(options), SandboxAgent.start(options)]);
    expect(first.token).toMatch(/^\S{16,}$/);
    expect(second.token).toBe(first.token);
    expect(JSON.stringify(await left(engine.socket))).not.toContain(first.token);
    await first.close();
    expect((await second.getHealth()).status).toBe("ok");
    await second.kill();
  });

  test("a daemon that does not start is told, and nothing is left", async () => {
    const failing = SandboxAgent.start({ sandbox: docker({ socket: engine.socket }), flags: ["--log-level", "shouting"] });
    await expect(failing).rejects.toThrow(/the daemon did not start:[^]*shouting/);
    expect(await left(engine.socket)).toEqual({ containers: [], volumes: null });
  });

  test("a missing image and a missing engine are named", async () => {
    const missing = SandboxAgent.start({ sandbox: docker({ socket: engine.socket, image: "other" }) });
    await expect(missing).rejects.toThrow("docker has no image other: build it with");
    const nowhere = SandboxAgent.start({ sandbox: docker({ socket: "/nowhere/docker.sock" }) });
    await expect(nowhere).rejects.toThrow("docker does not answer at /nowhere/docker.sock");
  });
});

async function left(socket: string): Promise<{ containers: unknown; volumes: unknown }> {
  const filters = encodeURIComponent(JSON.stringify({ label: ["sandbox-agent.fleet=sdk"] }));
  const { Volumes: volumes } = (await asked(socket, `/v1.41/volumes?filters=${filters}`)) as { Volumes: unknown };
  return { containers: await asked(socket, `/v1.41/containers/json?all=true&filters=${filters}`), volumes };
}

function asked(socketPath: string, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () => resolve(JSON.parse(text)));
    });
    sent.on("error", reject);
    sent.end();
  });
}
