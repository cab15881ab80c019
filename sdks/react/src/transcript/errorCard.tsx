/** An error: its message, its code, and what the agent reported. */
import type { ErrorEntry, Stderr } from "sandbox-agentd";
import { pretty } from "../parts/format.js";
import { Icon } from "../parts/icon.js";
import { Json } from "./json.js";
import { asRecord } from "./record.js";
import { StderrView } from "./stderrView.js";

export function ErrorCard({ entry }: { entry: ErrorEntry }) {
  const details = asRecord(entry.details);
  const { exit_code: exitCode, signal, stderr, ...rest } = details ?? {};
  const facts = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  return (
    <section className="sa-card sa-bad" role="group" aria-label="Error">
      <header>
        <Icon name="alert" />
        <strong>{entry.code ? words(entry.code) : "Error"}</strong>
        {typeof exitCode === "number" && <span className="sa-tag sa-bad">exit code {exitCode}</span>}
        {signal != null && <span className="sa-tag sa-bad">signal {String(signal)}</span>}
      </header>
      <p className="sa-card-text">{entry.message}</p>
      {asRecord(stderr) && <StderrView stderr={stderr as Stderr} />}
      {facts.length > 0 && (
        <details>
          <summary>Details</summary>
          <Json label="Details" text={pretty(Object.fromEntries(facts))} />
        </details>
      )}
    </section>
  );
}

export function OddCard({ title, text, data }: { title: string; text?: string; data?: unknown }) {
  return (
    <section className="sa-card sa-odd" role="group" aria-label={title}>
      <header>
        <Icon name="question" />
        <strong>{title}</strong>
      </header>
      {text && <p className="sa-card-text sa-mono">{text}</p>}
      {data !== undefined && data !== null && (
        <details>
          <summary>Payload</summary>
          <Json label="Payload" text={pretty(data)} />
        </details>
      )}
    </section>
  );
}

function words(code: string): string {
  const text = code.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
