/** An agent's mark: its first letter on a colour that follows from its name. */
const HUES: Readonly<Record<string, number>> = { claude: 24, codex: 160, opencode: 265, amp: 345, pi: 205, mock: 225 };

export function AgentMark({ agent, size = 22 }: { agent: string; size?: number }) {
  const hue = HUES[agent] ?? [...agent].reduce((sum, letter) => sum + letter.charCodeAt(0) * 37, 0) % 360;
  return (
    <span className="agentMark" aria-hidden="true" style={{ "--hue": hue, width: size, height: size } as React.CSSProperties}>
      {agent.slice(0, 1).toUpperCase()}
    </span>
  );
}
