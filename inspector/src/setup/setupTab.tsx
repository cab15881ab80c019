/** What a session was created with, and its current state: MCP servers, skills, rules and limits. */
import { type ReactNode, useCallback, useEffect, useState } from "react";
import type { SessionInfo } from "sandbox-agentd";
import type { ListedRule, McpServerInfo, Skill } from "../daemon/types";
import { Refusal } from "../panel/refusal";
import { useNow } from "chat/parts/clock";
import { conditionsOf } from "../sessions/rules";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import { LimitMeters } from "../usage/limitMeters";
import { timesOf } from "../usage/limits";
import { loadSetup, type Setup } from "./setup";

/** A running session changes often. */
const LATER_MS = 700;

export default function SetupTab({ sessionId }: { sessionId: string }) {
  const { client, sessions } = useWorkspace();
  const info = useObserved(sessions).find((session) => session.sessionId === sessionId);
  const [setup, setSetup] = useState<Setup | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const load = useCallback(async () => {
    try {
      setSetup(await loadSetup(client, sessionId));
      setFailure(null);
    } catch (error) {
      setFailure(error);
    }
  }, [client, sessionId]);
  // Agents report on their servers while they work; rules and limits change with the session.
  useEffect(() => {
    const timer = window.setTimeout(load, setup === null ? 0 : LATER_MS);
    return () => window.clearTimeout(timer);
  }, [load, info?.state, info?.updatedAt]);

  if (failure !== null) return <Refusal error={failure} onRetry={load} />;
  if (setup === null) return <p className="debugEmpty">Loading…</p>;
  return (
    <div className="scrollTab setupTab" tabIndex={0} role="region" aria-label="Setup">
      <Part name="MCP servers" none="No MCP servers." of={setup.servers.map((server) => <Server key={server.name} server={server} />)} />
      <Part name="Skills" none="No skills." of={setup.skills.map((skill) => <SkillLine key={skill.name} skill={skill} />)} />
      <Part
        name="Rules"
        none="No rules: the permission mode decides."
        of={setup.rules.map((listed) => (
          <Rule key={`${listed.list} ${listed.index}`} listed={listed} />
        ))}
      />
      {info && <Limits info={info} />}
    </div>
  );
}

function Part({ name, of, none }: { name: string; of: readonly ReactNode[]; none: string }) {
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      {of.length > 0 ? <ul>{of}</ul> : <p className="sa-faint">{none}</p>}
    </section>
  );
}

const TONES: Readonly<Record<string, string>> = { connected: "sa-good", allow: "sa-good", failed: "sa-bad", deny: "sa-bad" };

function Tag({ text }: { text: string }) {
  return <span className={`sa-tag ${TONES[text] ?? ""}`}>{text.replaceAll("_", " ")}</span>;
}

function Server({ server: { name, state = "unknown", error, tools } }: { server: McpServerInfo }) {
  return (
    <li>
      <strong>{name}</strong> <Tag text={state} />
      {error && <p className="sa-bad-text">{error}</p>}
      {tools && <p className="sa-mono">{tools.join(", ") || "no tools"}</p>}
    </li>
  );
}

function SkillLine({ skill: { name, description, source, commit } }: { skill: Skill }) {
  return (
    <li>
      <strong>{name}</strong> {description}
      <p className="sa-mono">
        {source}
        {commit && (
          <>
            {" at "}
            <span title={commit}>{commit.slice(0, 12)}</span>
          </>
        )}
      </p>
    </li>
  );
}

function Rule({ listed: { list, rule, expired = false } }: { listed: ListedRule }) {
  const until = rule.expires && (expired ? `expired ${rule.expires}` : `until ${rule.expires}`);
  return (
    <li className={expired ? "expired" : ""}>
      <Tag text={rule.effect} /> <span className="sa-mono">{conditionsOf(rule)}</span>
      {rule.reason && <p>{rule.reason}</p>}
      <p className="sa-faint">{[list === "operator" ? "of the operator" : "of this session", until].filter(Boolean).join(", ")}</p>
    </li>
  );
}

function Limits({ info }: { info: SessionInfo }) {
  const now = useNow();
  const times = timesOf(info, now);
  const hasLimits = Object.values(info.limits ?? {}).some((limit) => limit != null);
  return (
    <section aria-label="Limits">
      <h3>Limits</h3>
      {!hasLimits && <p className="sa-faint">No limits.</p>}
      <p className="limitLines">
        <LimitMeters info={info} />
        {times.map((words) => (
          <span key={words}>{words}</span>
        ))}
      </p>
    </section>
  );
}
