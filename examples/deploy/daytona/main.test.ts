/** The example on Daytona if `DAYTONA_API_KEY` is set, and on a stand-in otherwise; what goes wrong, on the stand-in. */
import { SandboxAgent } from "sandbox-agentd";
import { daytona } from "sandbox-agentd/daytona";
import { describe, expect, test } from "vitest";
import { BINARY, freePort } from "../machine.js";
import { CONVERSATION, printedBy } from "../story.js";
import { main } from "./main.js";
import { StandIn } from "./stand-in.js";

test.runIf(process.env.DAYTONA_API_KEY)("on Daytona, the conversation continues after a stop", async () => {
  expect(await printedBy(() => main(daytona({ binary: BINARY }), "mock"))).toEqual(CONVERSATION);
});

describe("on a stand-in", () => {
  test("the conversation continues after a stop, through the proxy, and the sandbox is deleted", async () => {
    const sdk = new StandIn();
    const provider = daytona({ sdk, binary: BINARY, port: await freePort() });
    expect(await printedBy(() => main(provider, "mock"))).toEqual(CONVERSATION);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });

  test("a daemon that does not start is told, and its sandbox is deleted", async () => {
    const sdk = new StandIn();
    const provider = daytona({ sdk, binary: BINARY, port: await freePort() });
    const failing = SandboxAgent.start({ sandbox: provider, name: "fails", flags: ["--log-level", "shouting"] });
    await expect(failing).rejects.toThrow(/the daemon did not start:[^]*shouting/);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });

  test("a stopped sandbox whose daemon fails to start is kept", async () => {
    const sdk = new StandIn();
    const provider = daytona({ sdk, binary: BINARY, port: await freePort() });
    const client = await SandboxAgent.start({ sandbox: provider, name: "kept" });
    await client.pause();
    const failing = SandboxAgent.start({ sandbox: provider, name: "kept", flags: ["--log-level", "shouting"] });
    await expect(failing).rejects.toThrow(/the daemon did not start/);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["running"]);
    await client.kill();
  });
});
