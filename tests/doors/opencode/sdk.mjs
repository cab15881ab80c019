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

// Answers what agents ask, and notes it.
const events = await client.event.subscribe();
const types = new Set();
const asked = [];
const replies = { once: "once", always: "always", reject: "reject" };
const answerAll = (async () => {
  for await (const { type, properties } of events.stream) {
    types.add(type);
    if (type === "permission.asked") {
      asked.push(properties.permission);
      const word = properties.metadata.command?.split(" ")[1];
      if (word === "older") {
        // The form of older clients.
        const path = { id: properties.sessionID, permissionID: properties.id };
        await client.postSessionIdPermissionsPermissionId({ path, body: { response: "once" } });
      } else {
        await v2.permission.reply({ requestID: properties.id, reply: replies[word] ?? "once" });
      }
    }
    if (type === "question.asked") await v2.question.reply({ requestID: properties.id, answers: [["Green"]] });
  }
})();
answerAll.catch(() => process.exit(1));

const model = { providerID: "mock", modelID: "default" };
const answer = (text) =>
  client.session.prompt({ path: { id: session.id }, body: { model, parts: [{ type: "text", text }] } });
const texts = ({ data }) => data.parts.filter((part) => part.type === "text").map((part) => part.text);
said.text = texts(await answer("hello"));
said.permitted = (await answer("permission")).data.parts.map((part) => part.tool ?? part.text);
said.asked = asked.splice(0);
for (const word of ["older", "reject", "always"]) said[word] = texts(await answer(`permission ${word}`));
said.question = texts(await answer("question"));
said.image = texts(await client.session.prompt({
  path: { id: session.id },
  body: {
    model,
    parts: [{ type: "text", text: "image" }, { type: "file", mime: "image/png", filename: "a.png", url: "data:image/png;base64,iVBORw0KGgo=" }],
  },
})).at(-1);
await answer("edit");
said.diff = (await client.session.diff({ path: { id: session.id } })).data.map(({ file, status }) => [file, status]);
await answer("subagent");
const [child] = (await client.session.children({ path: { id: session.id } })).data;
said.child = [child.parentID === session.id, (await client.session.messages({ path: { id: child.id } })).data.length];
said.todo = (await client.session.todo({ path: { id: session.id } })).data;
said.command = texts(await client.session.command({ path: { id: session.id }, body: { command: "echo", arguments: "two words" } }));
said.compacted = (await client.session.summarize({ path: { id: session.id }, body: model })).data;

const slow = answer("slow 300");
while (!(await client.session.status()).data[session.id]) await new Promise((resolve) => setTimeout(resolve, 20));
await client.session.promptAsync({ path: { id: session.id }, body: { model, parts: [{ type: "text", text: "queued" }] } });
await client.session.abort({ path: { id: session.id } });
said.aborted = (await slow).data.info.error.name;
while ((await client.session.status()).data[session.id]) await new Promise((resolve) => setTimeout(resolve, 20));
said.queued = texts({ data: (await client.session.messages({ path: { id: session.id } })).data.at(-1) })[0].slice(0, 16);

said.streamed = ["message.updated", "message.part.delta", "session.status"].every((type) => types.has(type));
const messages = (await client.session.messages({ path: { id: session.id } })).data;
said.messages = messages.slice(0, 4).map(({ info }) => info.role);
said.listed = (await client.session.list()).data.some((each) => each.id === session.id);
said.renamed = (await client.session.update({ path: { id: session.id }, body: { title: "Other" } })).data.title;
said.viaV2 = (await v2.session.get({ sessionID: session.id })).data.title;
said.deleted = (await client.session.delete({ path: { id: session.id } })).data;
const plain = createOpencodeClient(settings);
const refused = await Promise.all([
  plain.session.fork({ path: { id: session.id }, body: {} }),
  plain.session.revert({ path: { id: session.id }, body: { messageID: "msg_1" } }),
  plain.session.unrevert({ path: { id: session.id } }),
  plain.session.share({ path: { id: session.id } }),
]);
said.refused = refused.map(({ error }) => [error.name, error.data.message.split(":")[0]]);
said.gone = (await plain.session.get({ path: { id: session.id } })).error.name;
console.log(JSON.stringify(said));
process.exit(0);
