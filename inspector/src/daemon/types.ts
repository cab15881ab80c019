/** Parts of the daemon's responses that the SDK has no names for, as its OpenAPI document calls them. */
import type { SessionInfo } from "sandbox-agentd";
import type { components } from "sandbox-agentd/openapi";

type Schemas = components["schemas"];

export type SessionState = SessionInfo["state"];
export type Mode = Schemas["Mode"];
export type Model = Schemas["Model"];
export type McpServerInfo = Schemas["McpServerInfo"];
export type SkillSource = Schemas["SkillSource"];
export type Skill = Schemas["Skill"];
export type ListedRule = Schemas["ListedRule"];
export type WindowInfo = Schemas["WindowInfo"];
