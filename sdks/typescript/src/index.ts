/** The TypeScript client of sandbox-agent. */
export type * from "./events.js";
export { foldTranscript, TranscriptFold } from "./transcript.js";
export type * from "./entries.js";
