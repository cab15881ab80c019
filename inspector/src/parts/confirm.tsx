/** Asks for confirmation before something that cannot be undone. */
import { Button } from "chat/parts/button";
import { Dialog } from "./dialog";

interface ConfirmProps {
  title: string;
  words: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, words, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{words}</p>
      <footer className="formEnd">
        <Button onClick={onClose} data-first>
          Cancel
        </Button>
        <Button
          look="danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
