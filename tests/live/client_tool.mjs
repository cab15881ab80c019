// Sends a prompt in a session of its own and answers the calls of its tool: node client_tool.mjs URL AGENT DIRECTORY PROMPT
import { SandboxAgent } from "../../sdks/typescript/dist/index.js";

const [baseUrl, agent, directory, prompt] = process.argv.slice(2);
const asked = [];
const weather = {
  name: "weather",
  description: "The weather in a city.",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run({ city }) {
    asked.push(city);
    return "rain and 12 degrees";
  },
};

const client = await SandboxAgent.connect({ baseUrl });
const session = await client.sessions.create({ agent, directory, tools: [weather] });
await session.prompt(prompt);
console.log(JSON.stringify({ session: session.id, asked }));
