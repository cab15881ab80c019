/**
 * The universal events, as a union that `switch (event.type)` narrows.
 *
 * The types come from the daemon's OpenAPI document. A newer daemon may send events that this client does not know:
 * each is an `UnknownEvent`, which the `default` branch gets.
 */
import type { components } from "./openapi.js";

type Schemas = components["schemas"];

export type SessionStartedEvent = Schemas["SessionStartedEnvelope"];
export type SessionEndedEvent = Schemas["SessionEndedEnvelope"];
export type TurnStartedEvent = Schemas["TurnStartedEnvelope"];
export type TurnEndedEvent = Schemas["TurnEndedEnvelope"];
export type ItemStartedEvent = Schemas["ItemStartedEnvelope"];
export type ItemDeltaEvent = Schemas["ItemDeltaEnvelope"];
export type ItemCompletedEvent = Schemas["ItemCompletedEnvelope"];
export type PermissionRequestedEvent = Schemas["PermissionRequestedEnvelope"];
export type PermissionResolvedEvent = Schemas["PermissionResolvedEnvelope"];
export type QuestionRequestedEvent = Schemas["QuestionRequestedEnvelope"];
export type QuestionResolvedEvent = Schemas["QuestionResolvedEnvelope"];
export type ErrorEvent = Schemas["ErrorEventEnvelope"];
export type AgentUnparsedEvent = Schemas["AgentUnparsedEnvelope"];

/** One of the events that the contract lists. */
export type KnownEvent = Schemas["Event"];
export type EventType = KnownEvent["type"];

// A string at run time. For the compiler it is like no literal, so that comparing `type` with one rules the unknown event out.
declare const unknownType: unique symbol;
export type UnknownEventType = `${string & { readonly [unknownType]: true }}`;

/** An event of a type that this client does not know. */
export type UnknownEvent = Omit<KnownEvent, "type" | "data"> & {
  type: UnknownEventType;
  data: unknown;
};

export type Event = KnownEvent | UnknownEvent;

export type Item = Schemas["Item"];
export type ItemDelta = Schemas["ItemDelta"];
export type ContentPart = Item["content"] extends (infer Part)[] | undefined ? Part : never;
/** What a tool does, independent of the agent's name for it. */
export type ToolKind = NonNullable<Extract<ContentPart, { type: "tool_call" }>["kind"]>;
export type Usage = Schemas["Usage"];
export type StopReason = Schemas["TurnMetadata"]["stop_reason"];
export type Stderr = Schemas["Stderr"];
export type SessionMetadata = Schemas["SessionMetadata"];
export type PermissionMetadata = Schemas["PermissionMetadata"];
/** A rule that decided: its list, its position there, and its reason. */
export type RuleReference = Schemas["RuleReference"];
/** What an agent wants to do, as `onPermission` gets it. */
export type PermissionRequested = Schemas["PermissionRequested"];
export type PermissionResolved = Schemas["PermissionResolved"];
/** What an agent asks, as `onQuestion` gets it. */
export type QuestionRequested = Schemas["QuestionRequested"];
export type QuestionResolved = Schemas["QuestionResolved"];
export type AskedQuestion = Schemas["AskedQuestion"];
export type DecidedBy = "client" | "rule" | "agent" | "daemon";
export type FileRef = Schemas["FileRef"];
export type Image = Schemas["Image"];
