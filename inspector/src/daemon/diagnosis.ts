/** Tries to reach a daemon and, when that fails, finds out why. */
import { NotADaemon, Problem, WrongUsage } from "sandbox-agentd";
import { type Address, Daemon } from "./daemon";
import type { RequestLog } from "./requestLog";

export type Failure =
  | { readonly kind: "bad address"; readonly detail: string }
  | { readonly kind: "not running" }
  | { readonly kind: "mixed content" }
  | { readonly kind: "not a daemon" }
  | { readonly kind: "origin" }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "token missing" }
  | { readonly kind: "token wrong" }
  | { readonly kind: "token throttled" }
  | { readonly kind: "other"; readonly detail: string };

export type Outcome = { daemon: Daemon; version: string } | { failure: Failure };

export async function connect(address: Address, log: RequestLog): Promise<Outcome> {
  if (!URL.canParse(address.endpoint)) return { failure: { kind: "bad address", detail: address.endpoint } };
  // Without a token or custom headers the request needs no preflight, so a refusal can be read.
  let version: string;
  try {
    const health = await new Daemon({ ...address, token: null }, log, { maxRetries: 0 }).client.getHealth();
    if (health?.status !== "ok") return { failure: { kind: "not a daemon" } };
    version = health.version ?? "";
  } catch (error) {
    if (error instanceof WrongUsage) return { failure: { kind: "bad address", detail: address.endpoint } };
    return { failure: await whyNot(address, error) };
  }
  try {
    await new Daemon(address, log, { maxRetries: 0 }).client.listSessions({ limit: 1 });
    return { daemon: new Daemon(address, log), version };
  } catch (error) {
    return { failure: await whyNot(address, error) };
  }
}

async function whyNot(address: Address, error: unknown): Promise<Failure> {
  if (error instanceof NotADaemon) return { kind: "not a daemon" };
  // The token contains characters that a header cannot carry.
  if (error instanceof WrongUsage) return { kind: "token wrong" };
  if (!(error instanceof Problem)) {
    if (window.location.protocol === "https:" && isPlainAndFar(address.endpoint)) return { kind: "mixed content" };
    // The browser hides a refused cross-origin response, but not whether there was one.
    return (await somebodyAnswers(address.endpoint)) ? { kind: "origin" } : { kind: "not running" };
  }
  switch (error.type) {
    case "token_invalid":
      return { kind: address.token ? "token wrong" : "token missing" };
    case "rate_limited":
      return { kind: "token throttled" };
    case "misdirected_host":
      return { kind: "host", host: new URL(address.endpoint).hostname };
    case "permission_denied":
      return { kind: "origin" };
    case "not_found":
      return { kind: "not a daemon" };
    default:
      return { kind: "other", detail: error.message };
  }
}

async function somebodyAnswers(endpoint: string): Promise<boolean> {
  if (new URL(endpoint).origin === window.location.origin) return false;
  try {
    await fetch(`${endpoint}/v1/health`, { mode: "no-cors", cache: "no-store", credentials: "omit" });
    return true;
  } catch {
    return false;
  }
}

function isPlainAndFar(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint);
  return protocol === "http:" && hostname !== "localhost" && !hostname.startsWith("127.");
}
