/** The daemon's responses, under the names of its OpenAPI document. */
import type { components } from "sandbox-agentd/openapi";

type Schemas = components["schemas"];

export type SessionInfo = Schemas["SessionInfo"];
export type SessionState = SessionInfo["state"];
export type PermissionMode = SessionInfo["permissionMode"];
export type AgentInfo = Schemas["AgentInfo"];
export type Mode = Schemas["Mode"];
export type Model = Schemas["Model"];
export type CreatedSession = Schemas["CreatedSession"];
export type Queue = Schemas["Queue"];
export type QueuedMessage = Schemas["QueuedMessageInfo"];
export type Command = Schemas["Command"];
export type Commands = Schemas["Commands"];
export type StoredAttachment = Schemas["StoredAttachment"];
export type McpServer = Schemas["McpServer"];
export type McpServerInfo = Schemas["McpServerInfo"];
export type McpServerList = Schemas["McpServerList"];
export type SkillSource = Schemas["SkillSource"];
export type Skill = Schemas["Skill"];
export type SkillList = Schemas["SkillList"];
export type PolicyRule = Schemas["PolicyRule"];
export type ListedRule = Schemas["ListedRule"];
export type PolicyList = Schemas["PolicyList"];
export type DesktopStatus = Schemas["DesktopStatus"];
export type WindowInfo = Schemas["WindowInfo"];
export type ClipboardText = Schemas["ClipboardText"];
export type RecordingInfo = Schemas["RecordingInfo"];
export type RecordingList = Schemas["RecordingList"];
export type ProcessInfo = Schemas["ProcessInfo"];
export type ProcessList = Schemas["ProcessList"];
export type LogEntry = Schemas["LogEntry"];
export type ChangeList = Schemas["ChangeList"];
export type ChangedFile = Schemas["ChangedFile"];
export type Reverted = Schemas["Reverted"];
export type UsageReport = Schemas["UsageReport"];
export type UsageSum = Schemas["UsageSum"];
export type FileEntry = Schemas["FileEntry"];
export type FileWritten = Schemas["FileWritten"];

/** A page of a folder listing. */
export interface EntryPage {
  readonly entries: readonly FileEntry[];
  readonly nextCursor?: string;
}
