/** One terminal, drawn by xterm.js. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button } from "chat/parts/button";
import { theme } from "../parts/theme";
import { useObserved } from "chat/state/observable";
import { useWorkspace } from "../state/workspace";
import "./adoptedStyle";
import { terminalTheme } from "./colours";
import { type LinkState, TerminalLink } from "./terminalLink";

const SCROLLBACK = 5000;

interface Props {
  processId: string;
  name: string;
  /** The process has ended, or no longer exists. */
  onEnd: () => void;
  /** Keyboard users must be able to leave the terminal. */
  onLeave: () => void;
}

export default function TerminalScreen({ processId, name, onEnd, onLeave }: Props) {
  const { daemon } = useWorkspace();
  const box = useRef<HTMLDivElement>(null);
  const [link, setLink] = useState<TerminalLink | null>(null);
  const latest = useRef({ onEnd, onLeave });
  latest.current = { onEnd, onLeave };

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const terminal = new Terminal({
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: 12,
      scrollback: SCROLLBACK,
      theme: terminalTheme(element),
      minimumContrastRatio: 4.5,
      cursorBlink: false,
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(element);
    if (terminal.textarea) terminal.textarea.ariaLabel = `Terminal: ${name}`;
    terminal.attachCustomKeyEventHandler((event) => passes(event, terminal, () => latest.current.onLeave()));
    fit.fit();
    const opened = new TerminalLink(daemon, processId, {
      clear: () => terminal.reset(),
      write: (output, onWritten) => terminal.write(output, onWritten),
      opened: () => opened.resize(terminal.cols, terminal.rows),
    });
    terminal.onData((text) => opened.type(text));
    terminal.onBinary((text) => opened.type(text));
    terminal.onResize(({ cols, rows }) => opened.resize(cols, rows));
    const resizing = new ResizeObserver(() => fit.fit());
    resizing.observe(element);
    const leaveColours = onColours(() => {
      terminal.options.theme = terminalTheme(element);
    });
    setLink(opened);
    terminal.focus();
    return () => {
      leaveColours();
      resizing.disconnect();
      opened.close();
      terminal.dispose();
    };
  }, [daemon, processId, name]);

  return (
    <div className="terminalScreen">
      <div className="terminalBox sa-mono" ref={box} />
      {link && <TerminalState link={link} onEnd={() => latest.current.onEnd()} />}
    </div>
  );
}

function TerminalState({ link, onEnd }: { link: TerminalLink; onEnd: () => void }) {
  const state = useObserved(link);
  const hasEnded = state.kind === "exited" || state.kind === "gone";
  useEffect(() => {
    if (hasEnded) onEnd();
  }, [hasEnded]);
  const words = wordsOf(state);
  if (!words) return null;
  return (
    <p className="terminalState" role="status">
      {words}
      {state.kind === "offline" && (
        <Button look="quiet" small onClick={link.retryNow}>
          Try now
        </Button>
      )}
    </p>
  );
}

function wordsOf(state: LinkState): string | null {
  switch (state.kind) {
    case "connecting":
      return "Connecting…";
    case "open":
      return null;
    case "offline":
      return "The connection is lost. The process keeps running.";
    case "gone":
      return "This process no longer exists.";
    case "exited":
      return state.code === null ? "Ended by a signal." : `Ended with exit code ${state.code}.`;
  }
}

/** Whether the terminal handles a key. Ctrl C copies while something is selected; Shift F6 leaves the terminal. */
function passes(event: KeyboardEvent, terminal: Terminal, onLeave: () => void): boolean {
  if (event.shiftKey && event.key === "F6") {
    event.preventDefault();
    if (event.type === "keydown") onLeave();
    return false;
  }
  return !(event.ctrlKey && !event.shiftKey && event.code === "KeyC" && terminal.hasSelection());
}

/** Calls back whenever the page's colours change, by choice or with the system. */
function onColours(listener: () => void): () => void {
  const system = window.matchMedia("(prefers-color-scheme: light)");
  system.addEventListener("change", listener);
  const leave = theme.subscribe(listener);
  return () => {
    system.removeEventListener("change", listener);
    leave();
  };
}
