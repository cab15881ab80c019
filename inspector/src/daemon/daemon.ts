/** One daemon: its address, and clients whose requests are logged. */
import { type ConnectOptions, Operations } from "sandbox-agentd";
import { loggedFetch, RequestLog } from "./requestLog";

export interface Address {
  /** Without a slash at its end, e.g. `http://127.0.0.1:2468`. */
  readonly endpoint: string;
  readonly token: string | null;
}

export class Daemon {
  readonly client: Operations;
  /** For polling: the log keeps only the latest request. */
  readonly polling: Operations;

  constructor(
    readonly address: Address,
    readonly log: RequestLog = new RequestLog(),
    options: Partial<ConnectOptions> = {},
  ) {
    const { endpoint, token } = address;
    const shared = {
      baseUrl: endpoint,
      ...(token !== null && { token }),
      maxRetries: 1,
      // As long as the page is open.
      reconnectTimeoutMs: Infinity,
      // The page shows the daemon's version itself.
      onWarning: () => undefined,
      ...options,
    };
    this.client = new Operations({ ...shared, fetch: loggedFetch(log) });
    this.polling = new Operations({ ...shared, fetch: loggedFetch(log, { poll: true }) });
  }

  /** A WebSocket. Its URL contains the token, so the log does not show it. */
  socket(address: string): WebSocket {
    const url = new URL(address);
    url.search = "";
    const id = this.log.begin({ method: "GET", url: url.href, headers: {}, body: null, authorized: this.address.token !== null, stream: true });
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.log.end(id, { status: 101 }));
    socket.addEventListener("error", () => this.log.end(id, { failure: "no connection" }));
    return socket;
  }
}
