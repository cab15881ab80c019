/** The keyboard shortcuts. */
import { Dialog } from "./parts/dialog";

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "Send the message"],
  ["Shift Enter", "A new line"],
  ["↑ in an empty message", "Your earlier messages"],
  ["Esc in the message", "Stop the running turn"],
  ["Alt Y · Alt A · Alt R", "Allow once · always · reject the pending request"],
  ["Alt N", "New session"],
  ["Alt ↑ · Alt ↓", "Session above · below"],
  ["Ctrl K", "Search sessions"],
  ["Ctrl F", "Search the transcript"],
  ["Alt D", "Panel"],
  ["Shift F6", "Leave a terminal, which receives all other keys"],
  ["Ctrl Shift V", "Paste into a terminal; Ctrl C copies what is selected"],
  ["Ctrl S in a file", "Save it"],
  ["?", "This list"],
];

export default function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
