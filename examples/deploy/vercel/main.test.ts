/** The example on Vercel if there are credentials in the environment, and on a stand-in otherwise; what goes wrong, on the stand-in. */
import { SandboxAgent } from "sandbox-agentd";
import { vercel } from "sandbox-agentd/vercel";
import { describe, expect, test } from "vitest";
import { BINARY, freePort } from "../machine.js";
import { CONVERSATION, printedBy } from "../story.js";
import { main } from "./main.js";
import { StandIn } from "./stand-in.js";

const { VERCEL_OIDC_TOKEN, VERCEL_TOKEN } = process.env;

test.runIf(VERCEL_OIDC_TOKEN ?? VERCEL_TOKEN)("on Vercel, the conversation continues after a stop", async () => {
  expect(await printedBy(() => main(vercel({ binary: BINARY }), "mock"))).toEqual(CONVERSATION);
});

describe("on a stand-in", () => {
  test("the conversation continues after a stop, and the sandbox is deleted", async () => {
    const sdk = new StandIn();
    const provider = vercel({ sdk, binary: BINARY, port: await freePort() });
    expect(await printedBy(() => main(provider, "mock"))).toEqual(CONVERSATION);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });

  test("variables reach the daemon, and no command line", async () => {
    const sdk = new StandIn();
    const sandbox = vercel({ sdk, binary: BINARY, port: await freePort() });
    const client = await SandboxAgent.start({ sandbox, env: { SECRET_OF_AN_AGENT: "swordfish" } });
    const ran = await client.exec("printenv", ["SECRET_OF_AN_AGENT"]);
    expect(ran.stdout).toBe("swordfish\n");
    expect(sdk.sandboxes[0]?.machine.commands.join("\n")).not.toContain("swordfish");
    await client.close();
  });

  test("a daemon that does not start is told, and its sandbox is deleted", async () => {
    const sdk = new StandIn();
    const provider = vercel({ sdk, binary: BINARY, port: await freePort() });
    const failing = SandboxAgent.start({ sandbox: provider, flags: ["--log-level", "shouting"] });
    await expect(failing).rejects.toThrow(/the daemon did not start:[^]*shouting/);
    expect(sdk.sandboxes.map(({ machine }) => machine.state)).toEqual(["gone"]);
  });
});
