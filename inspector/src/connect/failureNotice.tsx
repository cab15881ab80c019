/** Why the daemon could not be reached, and what to do about it. */
import type { ReactNode } from "react";
import type { Failure } from "../daemon/diagnosis";
import { Notice } from "chat/parts/notice";
import { CommandLine } from "./commandLine";

export function FailureNotice({ failure, endpoint }: { failure: Failure; endpoint: string }) {
  const { title, body } = explained(failure, endpoint);
  return (
    <Notice>
      <strong>{title}</strong>
      {body}
    </Notice>
  );
}

function explained(failure: Failure, endpoint: string): { title: string; body: ReactNode } {
  const origin = window.location.origin;
  switch (failure.kind) {
    case "bad address":
      return { title: "This is not an address", body: <p>An address looks like http://127.0.0.1:2468.</p> };
    case "not running":
      return {
        title: "Nothing answers at this address",
        body: <p>No daemon listens at {endpoint}, or it cannot be reached from this browser. Is it running?</p>,
      };
    case "mixed content":
      return {
        title: "The browser blocks plain HTTP here",
        body: <p>This page was loaded over HTTPS, so it can call only HTTPS addresses. Put the daemon behind TLS, or open its own /ui/.</p>,
      };
    case "not a daemon":
      return {
        title: "Another server answers at this address",
        body: <p>{endpoint} is not a sandbox-agent daemon. Check the port.</p>,
      };
    case "origin":
      return {
        title: "The daemon does not allow this page (CORS)",
        body: (
          <>
            <p>It runs, but takes no requests from {origin}. Start it with this flag:</p>
            <CommandLine text={`--cors-allow-origin ${origin}`} />
          </>
        ),
      };
    case "host":
      return {
        title: "The daemon does not answer to this host name (421)",
        body: (
          <>
            <p>It answers only to host names it knows. If this one is right, start it with:</p>
            <CommandLine text={`--allow-host ${failure.host}`} />
          </>
        ),
      };
    case "token missing":
      return { title: "It needs a token", body: <p>It is in the address that the daemon printed when it started.</p> };
    case "token wrong":
      return { title: "The token is wrong", body: <p>The daemon rejects this token. Was it started with another one?</p> };
    case "token throttled":
      return { title: "Too many wrong tokens", body: <p>Wait a minute, then try the right one.</p> };
    case "other":
      return { title: "Could not connect", body: <p>{failure.detail}</p> };
  }
}
