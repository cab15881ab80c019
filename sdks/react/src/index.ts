/** A chat with any coding agent, as React components. */
export { Approvals, type ApprovalsProps } from "./approvals/approvals.js";
export { Composer, type ComposerProps, type Suggestion } from "./composer/composer.js";
export { type ChatSession, useSession } from "./session/useSession.js";
export { Transcript, type TranscriptProps } from "./transcript/transcript.js";
