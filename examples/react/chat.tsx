/** A chat with a coding agent. A reload shows the same session: its id is in the address. */
import { createRoot } from "react-dom/client";
import { SandboxAgent } from "sandbox-agentd";
import { Approvals, Composer, Transcript, useSession } from "sandbox-agentd-react";
import "sandbox-agentd-react/styles.css";

const client = new SandboxAgent({
  baseUrl: import.meta.env.VITE_DAEMON ?? "http://127.0.0.1:2468",
  token: import.meta.env.VITE_TOKEN,
});

async function sessionId(): Promise<string> {
  if (!location.hash) {
    const { id } = await client.sessions.create({ agent: "mock" });
    location.hash = id;
  }
  return location.hash.slice(1);
}

function Chat({ id }: { id: string }) {
  const session = useSession(client, id);
  return (
    <main className="chat">
      <h1>
        {session.info?.agent ?? "Agent"}: {session.state}
        {session.connection === "offline" && ", offline"}
      </h1>
      <Transcript session={session} />
      <Approvals session={session} />
      <Composer session={session} autoFocus />
    </main>
  );
}

const root = createRoot(document.getElementById("root")!);
sessionId().then(
  (id) => root.render(<Chat id={id} />),
  (error: Error) => root.render(<p role="alert">{error.message}</p>),
);
