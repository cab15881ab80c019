/**
 * A tool of your own: the agent calls a function of this program.
 *
 *     node build/tools.js claude "when is our shop in Bonn open?"
 */
import { type ClientTool, SandboxAgent } from "sandbox-agentd";

const HOURS: Record<string, { opens: number; closes: number }> = {
  Bonn: { opens: 9, closes: 18 },
  Ulm: { opens: 8, closes: 20 },
};

const openingHours = {
  name: "opening_hours",
  description: `When a shop is open. There are shops in ${Object.keys(HOURS).join(" and ")}.`,
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run({ city }: { city: string }) {
    const hours = HOURS[city];
    if (!hours) throw new RangeError(`there is no shop in ${city}`);
    return hours;
  },
} satisfies ClientTool;

const [agent = "mock", ...prompts] = process.argv.slice(2);
const client = await SandboxAgent.start();
const session = await client.sessions.create({ agent, tools: [openingHours] });
for (const prompt of prompts.length > 0 ? prompts : ['call opening_hours {"city": "Bonn"}']) {
  console.log((await session.prompt(prompt)).text);
}
await client.close();
