/** The search bar of the transcript: the number of matches, and buttons to step through them. */
import { type KeyboardEvent, useEffect, useRef } from "react";
import { IconButton } from "../parts/button.js";
import { useFocusReturn } from "../parts/focus.js";
import { count } from "../parts/format.js";
import { Icon } from "../parts/icon.js";

interface Props {
  words: string;
  /** The index of the current match, from 0, and the number of matches. */
  at: number;
  many: number;
  onWords: (words: string) => void;
  onStep: (by: number) => void;
  onClose: () => void;
}

export function SearchBar({ words, at, many, onWords, onStep, onClose }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useFocusReturn(bar);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
  };
  return (
    <div ref={bar} className="sa-search-bar" role="search" onKeyDown={onKeyDown}>
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        aria-label="Search the transcript"
        placeholder="Search the transcript"
        value={words}
        onChange={(event) => onWords(event.target.value)}
      />
      <span className="sa-search-count" role="status">
        {words.trim() && (many > 0 ? `${count(at + 1)} of ${count(many)}` : "Not found")}
      </span>
      <IconButton icon="arrowUp" size={14} label="Previous (Shift Enter)" disabled={many === 0} onClick={() => onStep(-1)} />
      <IconButton icon="arrowDown" size={14} label="Next (Enter)" disabled={many === 0} onClick={() => onStep(1)} />
      <IconButton icon="close" size={14} label="Close the search" onClick={onClose} />
    </div>
  );
}
