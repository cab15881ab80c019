/** How much of its limits a session has used. */
import type { SessionInfo } from "sandbox-agentd";
import { measuresOf } from "./limits";

export function LimitMeters({ info }: { info: SessionInfo }) {
  const reached = info.limitReached?.limit;
  return (
    <>
      {measuresOf(info).map(({ limit, used, value, words }) => (
        <span key={limit} className={limit === reached ? "limitMeter reached" : "limitMeter"} title={limit}>
          <meter min={0} max={value} value={Math.min(used, value)} aria-label={words} /> {words}
        </span>
      ))}
      {reached && <span className="limitMeter reached">limit reached</span>}
    </>
  );
}
