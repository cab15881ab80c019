/** MCP servers, entered one by one or pasted as JSON. */
import { useState } from "react";
import { sayWhy } from "chat/state/words";
import { Button, IconButton } from "chat/parts/button";
import { draftsFrom, isUrl, type ServerDraft } from "./mcp";
import { PairsForm } from "./pairsForm";

interface Props {
  servers: readonly ServerDraft[];
  onChange: (servers: readonly ServerDraft[]) => void;
}

export function McpForm({ servers, onChange }: Props) {
  const [pasting, setPasting] = useState(false);
  const set = (at: number, change: Partial<ServerDraft>) => onChange(servers.map((old, index) => (index === at ? { ...old, ...change } : old)));
  return (
    <div className="mcpForm">
      {servers.map((server, at) => (
        <fieldset key={at} className="mcpServer">
          <legend className="sa-offscreen">MCP server {at + 1}</legend>
          <div className="pair">
            <input aria-label="Name of the server" placeholder="name" value={server.name} onChange={(event) => set(at, { name: event.target.value })} spellCheck={false} />
            <input aria-label="Command or URL" placeholder="command with arguments, or https://…" value={server.target} onChange={(event) => set(at, { target: event.target.value })} spellCheck={false} />
            <IconButton icon="close" size={14} label={`Remove server ${at + 1}`} onClick={() => onChange(servers.filter((_, index) => index !== at))} />
          </div>
          <PairsForm pairs={server.pairs} onChange={(pairs) => set(at, { pairs })} of={isUrl(server.target) ? "Header" : "Variable"} />
        </fieldset>
      ))}
      {pasting ? (
        <PasteJson
          onDone={(added) => {
            onChange([...servers, ...added]);
            setPasting(false);
          }}
        />
      ) : (
        <div className="sa-card-actions">
          <Button small icon="plus" onClick={() => onChange([...servers, { name: "", target: "", pairs: [] }])}>
            Add a server
          </Button>
          <Button small look="quiet" onClick={() => setPasting(true)}>
            Paste JSON
          </Button>
        </div>
      )}
    </div>
  );
}

function PasteJson({ onDone }: { onDone: (servers: readonly ServerDraft[]) => void }) {
  const [text, setText] = useState("");
  const [failure, setFailure] = useState<string | null>(null);
  const add = () => {
    try {
      onDone(text.trim() ? draftsFrom(text) : []);
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };
  return (
    <>
      <textarea
        aria-label="MCP servers as JSON"
        rows={5}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={'{"files": {"command": "my-mcp-server", "args": ["--root", "."]}}'}
        autoFocus
      />
      {failure && (
        <p className="sa-bad-text" role="alert">
          {failure}
        </p>
      )}
      <Button small onClick={add}>
        Add these servers
      </Button>
    </>
  );
}
