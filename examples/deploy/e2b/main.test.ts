/** The example on E2B if `E2B_API_KEY` is set, and on a stand-in otherwise; what goes wrong, on the stand-in. */
import { SandboxAgent } from "sandbox-agentd";
import { e2b } from "sandbox-agentd/e2b";
import { describe, expect, test } from "vitest";
import { BINARY, freePort } from "../machine.js";
import { CONVERSATION, printedBy } from "../story.js";
import { main } from "./main.js";
import { StandIn } from "./stand-in.js";

test.runIf(process.env.E2B_API_KEY)("on E2B, the conversation continues after a pause", async () => {
  expect(await printedBy(() => main(e2b({ binary: BINARY }), "mock"))).toEqual(CONVERSATION);
});

describe("on a stand-in", () => {
  test("the conversation continues after a pause, and the sandbox is deleted", async () => {
    const sdk = new StandIn();
    const provider = e2b({ sdk, binary: BINARY, port: await freePort() });
    expect(await printedBy(() => main(provider, "mock"))).toEqual(CONVERSATION);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });

  test("a sandbox without a name is deleted with its client, and its token is in no command", async () => {
    const sdk = new StandIn();
    const client = await SandboxAgent.start({ sandbox: e2b({ sdk, binary: BINARY, port: await freePort() }) });
    const [sandbox] = sdk.sandboxes;
    expect(sandbox?.settings.lifecycle).toEqual({ onTimeout: "kill" });
    expect((await client.getHealth()).status).toBe("ok");
    expect(client.token).toMatch(/^\S{16,}$/);
    expect(sandbox?.machine.commands.join("\n")).not.toContain(client.token);
    await expect(client.pause()).rejects.toThrow("without a name cannot be found again");
    await client.close();
    expect(sandbox?.machine.state).toBe("gone");
  });

  test("a sandbox of a name is found while it runs, with the same token, and survives its client", async () => {
    const sdk = new StandIn();
    const sandbox = e2b({ sdk, binary: BINARY, port: await freePort() });
    const first = await SandboxAgent.start({ sandbox, name: "shared" });
    await first.close();
    const second = await SandboxAgent.start({ sandbox, name: "shared" });
    expect(sdk.sandboxes).toHaveLength(1);
    expect(second.token).toBe(first.token);
    await second.kill();
  });

  test("a daemon that does not start is told, and its sandbox is deleted", async () => {
    const sdk = new StandIn();
    const provider = e2b({ sdk, binary: BINARY, port: await freePort() });
    const failing = SandboxAgent.start({ sandbox: provider, flags: ["--log-level", "shouting"] });
    await expect(failing).rejects.toThrow(/the daemon did not start:[^]*shouting/);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });

  test("a sandbox without the daemon says how to get it in", async () => {
    const sdk = new StandIn();
    await expect(SandboxAgent.start({ sandbox: e2b({ sdk }) })).rejects.toThrow(/does not contain sandbox-agent: .*`binary`/);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });

  test("a sandbox that comes too late is deleted", async () => {
    const sdk = new StandIn();
    const { promise, resolve } = withResolvers();
    const slow = { connect: sdk.connect, list: sdk.list.bind(sdk), create: async () => (await promise, sdk.create({})) };
    const failing = SandboxAgent.start({ sandbox: e2b({ sdk: slow }), startTimeoutMs: 50 });
    await expect(failing).rejects.toThrow("creating the sandbox took longer than 0.05 s");
    resolve();
    await expect.poll(() => sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
