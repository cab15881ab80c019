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
    <div className={`foldable ${className}`}>
      <button type="button" className="foldLine" aria-expanded={unfolded} onClick={onFold}>
        {line}
        <span className="foldMark">
          <Icon name="chevron" size={12} />
        </span>
      </button>
      {unfolded && <div className="foldBody">{children}</div>}
    </div>
  );
}
