/**
 * Loaded into every Pi that sandbox-agent starts (`pi --mode rpc -e extension.ts`).
 *
 * Pi runs its tools without asking. This extension makes it ask before every call of a tool that is not known to be
 * read-only; the daemon decides. It also gives the model a tool to ask the user, and registers the MCP servers of the
 * session, because Pi itself reads them only from the user's own files.
 *
 * Extensions reach the other side through dialogs. The title of ours is JSON with the prefix `permission:` or
 * `question:`.
 */
import { readFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** `codemode` scripts only call other tools, and each of those calls asks separately. */
const ONLY_READS = new Set([
	"read",
	"grep",
	"find",
	"ls",
	"ask_user",
	"codemode",
	"tool_search",
	"list_mcp_resources",
	"list_mcp_resource_templates",
	"read_mcp_resource",
]);

const QUESTIONS = {
	type: "object",
	properties: {
		questions: {
			type: "array",
			minItems: 1,
			items: {
				type: "object",
				properties: {
					question: { type: "string", description: "The whole question, as the user will read it" },
					header: { type: "string", description: "One or two words that name it" },
					options: {
						type: "array",
						description: "The answers to choose from; leave out for free text. The user may always write another.",
						items: {
							type: "object",
							properties: { label: { type: "string" }, description: { type: "string" } },
							required: ["label"],
						},
					},
					multiSelect: { type: "boolean", description: "Whether several options may be chosen" },
				},
				required: ["question"],
			},
		},
	},
	required: ["questions"],
};

type Question = { question: string };

export default function (pi: ExtensionAPI) {
	pi.on("tool_call", async (event, ctx) => {
		if (ONLY_READS.has(event.toolName)) return undefined;
		const { toolCallId, toolName, input } = event;
		const title = "permission:" + JSON.stringify({ toolCallId, toolName, input });
		const answer = await ctx.ui.select(title, ["once", "always", "reject"], { signal: ctx.signal });
		if (answer === "once" || answer === "always") return undefined;
		const reason = answer?.startsWith("reject:") ? answer.slice("reject:".length) : "";
		return { block: true, reason: reason || "The user rejected this call." };
	});

	pi.registerTool({
		name: "ask_user",
		label: "Ask user",
		description: "Ask the user one or more questions and wait for the answers.",
		parameters: QUESTIONS as any,
		async execute(toolCallId: string, { questions }: { questions: Question[] }, signal, _onUpdate, ctx) {
			const title = "question:" + JSON.stringify({ toolCallId, questions });
			const reply = await ctx.ui.input(title, undefined, { signal });
			const text = reply === undefined ? "The user did not answer." : answersAsText(questions, reply);
			return { content: [{ type: "text", text }], details: {} };
		},
	} as any);

	for (const [name, config] of Object.entries(sessionServers())) pi.registerMcpServer(name, config);
}

function answersAsText(questions: Question[], reply: string): string {
	const { answers } = JSON.parse(reply) as { answers: string[][] };
	return questions.map(({ question }, at) => `${question}\n${(answers[at] ?? []).join(", ")}`).join("\n\n");
}

function sessionServers(): Record<string, any> {
	const path = process.env.SANDBOX_AGENT_PI_MCP;
	return path ? JSON.parse(readFileSync(path, "utf8")) : {};
}
