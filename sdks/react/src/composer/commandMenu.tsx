/** The menu behind a slash at the start of a message: the agent's commands. */
import { useEffect, useState } from "react";
import type { Command, Operations } from "sandbox-agentd";

const MAX_OFFERED = 8;

/** The commands of a session, requested on first use. Empty if they are unavailable: then a slash is plain text. */
export function useCommands(client: Operations, sessionId: string, wanted: boolean): readonly Command[] {
  const [found, setFound] = useState<{ of: string; commands: readonly Command[] } | null>(null);
  const known = found?.of === sessionId;
  useEffect(() => {
    if (!wanted || known) return;
    let current = true;
    client
      .listCommands(sessionId)
      .then(({ commands }) => current && setFound({ of: sessionId, commands }))
      .catch(() => undefined);
    return () => {
      current = false;
    };
  }, [client, sessionId, wanted, known]);
  return known ? found.commands : [];
}

/** The commands that match what is typed so far. */
export function offeredFor(text: string, commands: readonly Command[]): readonly Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands.filter(({ name }) => name.toLowerCase().startsWith(typed)).slice(0, MAX_OFFERED);
}

/** Whether a message is one of these commands with its arguments. */
export function isCommand(text: string, commands: readonly Command[]): boolean {
  const name = /^\/(\S+)/.exec(text)?.[1];
  return commands.some((command) => command.name === name);
}

interface Props {
  offered: readonly Command[];
  chosen: number;
  onChoose: (command: Command) => void;
}

export function CommandMenu({ offered, chosen, onChoose }: Props) {
  if (offered.length === 0) return null;
  return (
    <div className="sa-command-menu" role="listbox" aria-label="Commands">
      {offered.map((command, place) => (
        <button
          key={command.name}
          type="button"
          role="option"
          aria-selected={place === chosen}
          tabIndex={-1}
          // The text keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <code>/{command.name}</code>
          {command.arguments && <span className="sa-muted"> {command.arguments}</span>}
          <span className="sa-muted sa-command-text">{command.description}</span>
        </button>
      ))}
    </div>
  );
}
