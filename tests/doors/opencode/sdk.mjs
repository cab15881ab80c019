// What a program does with OpenCode's SDK. Prints what it saw as JSON.
const [sdk, url, directory, authorization] = process.argv.slice(2);
const { createOpencodeClient } = await import(`${sdk}/dist/client.js`);
const { createOpencodeClient: createV2 } = await import(`${sdk}/dist/v2/client.js`);

const settings = { baseUrl: url, directory, headers: { authorization } };
const client = createOpencodeClient({ ...settings, throwOnError: true });
const v2 = createV2({ ...settings, throwOnError: true });
const said = {};

said.agents = (await client.app.agents()).data.map((agent) => agent.name).slice(0, 2);
said.providers = (await client.config.providers()).data.providers.map((provider) => provider.id).includes("mock");
const session = (await client.session.create({ body: { title: "By the SDK" } })).data;
said.title = session.title;

const events = await client.event.subscribe();
const types = new Set();
const asked = [];
const reading = (async () => {
  for await (const event of events.stream) {
    types.add(event.type);
    if (event.type === "permission.asked") {
      asked.push(event.properties.permission);
      await v2.permission.reply({ requestID: event.properties.id, reply: "once" });
    }
    if (event.type === "session.idle" && event.properties.sessionID === session.id && asked.length) return;
  }
})();

const model = { providerID: "mock", modelID: "default" };
const answer = (text) =>
  client.session.prompt({ path: { id: session.id }, body: { model, parts: [{ type: "text", text }] } });
said.text = (await answer("hello")).data.parts.map((part) => part.text);
said.permitted = (await answer("permission")).data.parts.map((part) => part.tool ?? part.text);
await reading;
said.asked = asked;
said.streamed = ["message.updated", "message.part.delta", "session.status"].every((type) => types.has(type));
said.messages = (await client.session.messages({ path: { id: session.id } })).data.map(({ info }) => info.role);
said.listed = (await client.session.list()).data.some((each) => each.id === session.id);
said.renamed = (await client.session.update({ path: { id: session.id }, body: { title: "Other" } })).data.title;
said.viaV2 = (await v2.session.get({ sessionID: session.id })).data.title;
said.deleted = (await client.session.delete({ path: { id: session.id } })).data;
const plain = createOpencodeClient(settings);
said.gone = (await plain.session.get({ path: { id: session.id } })).error.name;
console.log(JSON.stringify(said));
process.exit(0);
