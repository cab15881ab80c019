/** A collapsible section: the button says what is inside, and the body is mounted only while it is open. */
import type { ReactNode } from "react";
import { Icon } from "../parts/icon.js";

export interface Fold {
  unfolded: boolean;
  onFold: () => void;
}

interface Props extends Fold {
  className?: string;
  line: ReactNode;
  children: ReactNode;
}

export function Foldable({ className = "", line, children, unfolded, onFold }: Props) {
  return (
    <div className={`sa-foldable ${className}`}>
      <button type="button" className="sa-fold-line" aria-expanded={unfolded} onClick={onFold}>
        {line}
        <span className="sa-fold-mark">
          <Icon name="chevron" size={12} />
        </span>
      </button>
      {unfolded && <div className="sa-fold-body">{children}</div>}
    </div>
  );
}
