/** Every request this page sent, unchanged. */
import { useState } from "react";
import { asCurl, type LoggedRequest } from "../daemon/requestLog";
import { Button } from "chat/parts/button";
import { CopyButton } from "chat/parts/copyButton";
import { clock, duration, plural } from "chat/parts/format";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";

export function HttpTab() {
  const { daemon } = useWorkspace();
  const requests = useObserved(daemon.log);
  const [chosen, setChosen] = useState<number | null>(null);
  const request = requests.find(({ id }) => id === chosen);
  return (
    <div className="eventsTab">
      <div className="debugTools">
        <p className="debugCount sa-grow">{plural(requests.length, "request")}, newest first</p>
        <Button look="quiet" small icon="trash" onClick={() => daemon.log.clear()}>
          Clear
        </Button>
      </div>
      <div className="eventList" tabIndex={0} role="region" aria-label="Requests">
        {[...requests].reverse().map((sent) => (
          <button key={sent.id} type="button" className="requestRow" aria-pressed={sent.id === chosen} onClick={() => setChosen(sent.id)}>
            <span className={`requestStatus ${tone(sent)}`}>{sent.status ?? (sent.failure ? "—" : "…")}</span>
            <span className="requestMethod">{sent.method}</span>
            <span className="requestPath">{shortened(sent.url, daemon.address.endpoint)}</span>
            <span className="eventTime">{sent.stream ? "stream" : sent.milliseconds !== null ? duration(sent.milliseconds) : ""}</span>
          </button>
        ))}
      </div>
      {request && (
        <section className="eventDetail" aria-label="Request">
          <header>
            <strong>{request.method}</strong>
            <span>{clock(request.at)}</span>
            {request.failure && <span className="sa-bad-text">{request.failure}</span>}
            <span className="sa-grow" />
            <CopyButton words text={asCurl(request)} label="Copy as curl" />
          </header>
          <div className="eventHalves">
            <RequestHalf title="Sent" text={asCurl(request)} />
            <RequestHalf title="Answer" text={readable(request.answer) || (request.stream ? "a stream of events" : "empty")} />
          </div>
        </section>
      )}
    </div>
  );
}

function RequestHalf({ title, text }: { title: string; text: string }) {
  return (
    <div className="eventHalf">
      <header>
        <h3>{title}</h3>
        <CopyButton text={text} label={`Copy: ${title}`} />
      </header>
      <pre tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </div>
  );
}

/** The log spans daemons: requests to an earlier one keep its address. */
function shortened(url: string, endpoint: string): string {
  return url.startsWith(`${endpoint}/`) ? url.slice(endpoint.length) : url;
}

function tone(request: LoggedRequest): string {
  if (request.failure) return "bad";
  if (request.status === null) return "";
  return request.status < 400 ? "good" : "bad";
}

function readable(text: string | null): string {
  if (!text) return "";
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
