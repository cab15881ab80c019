/** An agent's mark: its first letter on a colour that follows from its name. */
export function AgentMark({ agent, size = 22 }: { agent: string; size?: number }) {
  // 47 keeps the names of today's agents farthest apart on the circle of colours.
  const hue = [...agent].reduce((sum, letter) => (sum * 47 + letter.charCodeAt(0)) % 360, 0);
  return (
    <span className="agentMark" aria-hidden="true" style={{ "--hue": hue, width: size, height: size } as React.CSSProperties}>
      {agent.slice(0, 1).toUpperCase()}
    </span>
  );
}
