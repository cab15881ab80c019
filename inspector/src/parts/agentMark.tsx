/** An agent's mark: its first letter on a colour derived from its name. */
export function AgentMark({ agent, size = 22 }: { agent: string; size?: number }) {
  // 47 puts the names of the current agents farthest apart on the colour wheel.
  const hue = [...agent].reduce((sum, letter) => (sum * 47 + letter.charCodeAt(0)) % 360, 0);
  return (
    <span className="agentMark" aria-hidden="true" style={{ "--hue": hue, width: size, height: size } as React.CSSProperties}>
      {agent.slice(0, 1).toUpperCase()}
    </span>
  );
}
