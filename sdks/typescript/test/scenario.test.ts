/** The scenario that every SDK runs: tests/sdk/README.md says what its words mean. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  AnswerNeeded,
  type Event,
  type PromptOptions,
  type SandboxAgent,
  type Session,
  type Transcript,
  TurnFailed,
} from "sandbox-agentd";
import { ROOT, TestDaemon } from "./daemons.js";

interface Deltas {
  agent_deltas: number;
}

interface Prompt {
  do: "prompt";
  message: string;
  on_permission?: { reply: "once" | "always" | "reject"; message?: string };
  on_question?: { answers?: string[][]; reject?: boolean };
  cancel_after?: Deltas;
  kill_daemon_after?: Deltas;
  kill_daemon_on?: string;
  expect: {
    texts?: string[];
    answer?: string;
    tools?: string[][];
    permissions?: string[][];
    questions?: [string, string][];
    at_least_agent_deltas?: number;
    stop_reason: string;
  };
}

interface Result {
  do: "result";
  message: string;
  raise_on_error?: boolean;
  timeout_seconds?: number;
  answer_timeout_seconds?: number;
  reply?: "once" | "always" | "reject";
  answer?: string;
  expect: { raises?: string; code?: string; message?: string; asks?: string; stop_reason: string; text?: string };
}

type Step =
  | { do: "create"; session_id: string; agent: string; expect: { healthy: boolean; state: string } }
  | Prompt
  | Result
  | { do: "read_back" | "end_of_follower" | "read_past_the_end" }
  | { do: "terminate"; expect: { state: string } };

const scenario = JSON.parse(readFileSync(join(ROOT, "tests/sdk/scenario.json"), "utf8")) as {
  name: string;
  steps: Step[];
};

/** What a scenario remembers from step to step. */
class Run {
  readonly prompts: Event[][] = [];
  log: Event[] = [];
  session!: Session;
  follower!: Promise<Event[]>;

  constructor(
    readonly daemon: TestDaemon,
    readonly client: SandboxAgent,
  ) {}

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "create": {
        this.session = await this.client.sessions.create({ id: step.session_id, agent: step.agent });
        this.follower = collected(this.session.events({ offset: 0 }));
        assert.equal((await this.session.info()).state, step.expect.state);
        return;
      }
      case "prompt":
        return this.prompt(step);
      case "result":
        return this.result(step);
      case "read_back":
        return this.readBack();
      case "terminate":
        await this.session.terminate();
        assert.equal((await this.session.info()).state, step.expect.state);
        return;
      case "end_of_follower":
        await this.readBack();
        assert.deepEqual(await this.follower, this.log);
        assert.equal(this.log.at(-1)?.type, "session.ended");
        return;
      case "read_past_the_end":
        assert.deepEqual(await collected(this.session.events({ offset: this.log.length })), []);
        return;
      default:
        assert.fail(`the scenario has a step that this interpreter does not know: ${JSON.stringify(step)}`);
    }
  }

  async prompt(step: Prompt): Promise<void> {
    const events: Event[] = [];
    let deltas = 0;
    let killed = false;
    const kill = async (): Promise<void> => {
      if (killed) return;
      killed = true;
      await this.daemon.kill();
      await this.daemon.start();
    };
    for await (const event of this.session.prompt(step.message, answers(step))) {
      events.push(event);
      if (event.type === "item.delta" && event.source === "agent") deltas += 1;
      if (deltas === step.cancel_after?.agent_deltas) await this.session.cancel();
      if (deltas === step.kill_daemon_after?.agent_deltas) await kill();
      if (event.type === step.kill_daemon_on) await kill();
    }
    this.prompts.push(events);
    checkTurn(events, step, deltas);
  }

  async result(step: Result): Promise<void> {
    const { timeout_seconds: timeout, answer_timeout_seconds: answerTimeout } = step;
    const turn = this.session.prompt(step.message, {
      throwOnError: step.raise_on_error,
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
      answerTimeoutMs: answerTimeout === undefined ? null : answerTimeout * 1000,
    });
    const raised = await turn.then(
      () => null,
      (error: unknown) => error,
    );
    const { raises, stop_reason, text, ...facts } = step.expect;
    assert.equal(raised instanceof Error ? raised.name : undefined, raises);
    if (raised instanceof TurnFailed) {
      assert.deepEqual({ code: raised.code, message: raised.message }, facts);
      assert.deepEqual([raised.stopReason, saidIn(raised.transcript)], [stop_reason, text]);
      return;
    }
    if (raised instanceof AnswerNeeded) await this.answer(raised, step);
    const result = await turn;
    assert.deepEqual([result.stopReason, text === undefined ? text : result.text], [stop_reason, text]);
  }

  async answer({ request, message }: AnswerNeeded, { reply = "once", answer = "", expect }: Result): Promise<void> {
    if ("permission_id" in request) {
      assert.equal(request.action, expect.asks);
      assert.match(message, /onPermission/);
      await this.session.replyPermission(request.permission_id, reply);
    } else if ("question_id" in request) {
      assert.equal(request.prompt, expect.asks);
      assert.match(message, /onQuestion/);
      await this.session.replyQuestion(request.question_id, answer);
    }
  }

  async readBack(): Promise<void> {
    this.log = [];
    for (let more = true; more;) {
      const page = await this.client.getEvents(this.session.id, { offset: this.log.length, limit: 7 });
      this.log.push(...page.events);
      more = page.hasMore;
    }
    assert.deepEqual(sequences(this.log), numbers(1, this.log.length));
    for (const events of this.prompts) {
      const first = events[0]?.sequence ?? 0;
      assert.deepEqual(events, this.log.slice(first - 1, first - 1 + events.length));
    }
  }
}

function saidIn({ entries }: Transcript): string {
  return entries.flatMap((entry) => (entry.kind === "message" && entry.role === "assistant" ? [entry.text] : [])).join();
}

function answers(step: Prompt): PromptOptions {
  const { on_permission, on_question } = step;
  const options: PromptOptions = {};
  // One handler answers at once and the other later: both ways must do.
  if (on_permission) options.onPermission = () => on_permission;
  if (on_question) options.onQuestion = async () => (on_question.reject ? null : (on_question.answers ?? null));
  return options;
}

function checkTurn(events: Event[], step: Prompt, deltas: number): void {
  const first = events[0];
  const last = events.at(-1);
  assert.ok(first?.type === "turn.started" && last?.type === "turn.ended");
  assert.equal(first.data.turn_id, last.data.turn_id);
  assert.deepEqual(sequences(events), numbers(first.sequence, events.length));
  const { expect } = step;
  assert.equal(last.data.metadata.stop_reason, expect.stop_reason);
  if (expect.texts) assert.deepEqual(texts(events), expect.texts);
  if (expect.answer) assert.equal(answer(events), expect.answer);
  if (expect.tools) assert.deepEqual(tools(events), expect.tools);
  if (expect.permissions) assert.deepEqual(permissions(events), expect.permissions);
  if (expect.questions) assert.deepEqual(questions(events), expect.questions);
  assert.ok(deltas >= (expect.at_least_agent_deltas ?? 0), `${deltas} deltas`);
}

function texts(events: Event[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== "item.completed") return [];
    const { kind, role, status, content } = event.data.item;
    if (kind !== "message" || role !== "assistant" || status !== "completed") return [];
    return (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
}

/** What the agent says aloud, from the pieces alone. */
function answer(events: Event[]): string {
  const deltas = events.flatMap((event) => (event.type === "item.delta" ? [event.data] : []));
  const aloud = deltas.filter(
    ({ kind, role, visibility }) => kind === "message" && role === "assistant" && visibility === undefined,
  );
  return aloud.map(({ delta }) => delta).join("");
}

function tools(events: Event[]): (string | undefined)[][] {
  const items = events.flatMap((event) => (event.type === "item.completed" ? [event.data.item] : []));
  const parts = items.flatMap(({ content }) => content ?? []);
  return parts.flatMap((part) => (part.type === "tool_call" ? [[part.name, part.kind, part.title]] : []));
}

function permissions(events: Event[]): (string | undefined)[][] {
  return events.flatMap((event) => {
    if (event.type !== "permission.resolved") return [];
    const { action, status, metadata } = event.data;
    return [[action, metadata?.kind, metadata?.title, status]];
  });
}

function questions(events: Event[]): [string, string][] {
  return events.flatMap((event) =>
    event.type === "question.resolved" ? [[event.data.prompt, event.data.status]] : [],
  );
}

function sequences(events: Event[]): number[] {
  return events.map((event) => event.sequence);
}

function numbers(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

async function collected(events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const daemon = await TestDaemon.running();
after(() => daemon.stop());

test(scenario.name, { timeout: 90_000 }, async () => {
  const run = new Run(daemon, await daemon.connect());
  for (const step of scenario.steps) await run.take(step);
});
