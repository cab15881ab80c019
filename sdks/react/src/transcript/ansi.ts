/** Terminal output as styled runs of text: colours and weight are kept, other control sequences are not. */

export interface Run {
  readonly text: string;
  /** Class names, e.g. `sa-fg1 sa-bold`. */
  readonly look: string;
  /** A colour other than the sixteen standard ones. */
  readonly color?: string;
  readonly background?: string;
}

interface Pen {
  flags: Set<string>;
  fg: string | null;
  bg: string | null;
  color?: string;
  background?: string;
}

// Colours (CSI … m), other CSI, OSC and other strings with their terminator, then short sequences: a character set, as
// selected by `tput sgr0`, or a single letter. The last one may be cut off by the end of the text.
const ESCAPE =
  /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*(?:[@-~]|$)|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*(?:[0-~]|$)/g;
/** The bell, and shifts of the character set. */
const SILENT = /[\x00\x07\x0e\x0f]/g;
const FLAGS: Readonly<Record<number, string>> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline" };

export function ansiRuns(output: string): Run[] {
  const text = withoutOverwritten(output);
  const pen: Pen = { flags: new Set(), fg: null, bg: null };
  const runs: Run[] = [];
  let from = 0;
  for (const escape of text.matchAll(ESCAPE)) {
    push(runs, text.slice(from, escape.index), pen);
    from = escape.index + escape[0].length;
    if (escape[1] !== undefined) take(pen, escape[1].split(";").flatMap(codesOf));
  }
  push(runs, text.slice(from), pen);
  return runs;
}

/** The runs in blocks of a number of lines: the browser lays out only the visible ones. */
export function inBlocks(runs: readonly Run[], lines: number): Run[][] {
  const blocks: Run[][] = [[]];
  let left = lines;
  for (const run of runs) {
    let from = 0;
    for (let end = run.text.indexOf("\n"); end >= 0; end = run.text.indexOf("\n", end + 1)) {
      left -= 1;
      if (left > 0) continue;
      blocks.at(-1)?.push({ ...run, text: run.text.slice(from, end + 1) });
      blocks.push([]);
      [from, left] = [end + 1, lines];
    }
    if (from < run.text.length) blocks.at(-1)?.push(from ? { ...run, text: run.text.slice(from) } : run);
  }
  return blocks.filter((block) => block.length > 0);
}

/** One code, or several that belong together: `38:2::255:0:0` is the same colour as `38;2;255;0;0`. */
function codesOf(parameter: string): number[] {
  const [code = 0, kind = 0, ...rest] = parameter.split(":").map(Number);
  if ((code === 38 || code === 48) && rest.length > 0) return [code, kind, ...(kind === 2 ? rest.slice(-3) : rest)];
  // Any kind of underline, or none.
  return [code === 4 && parameter === "4:0" ? 24 : code];
}

/** A carriage return overwrites the line, and a backspace the character before it: only the result is shown. */
function withoutOverwritten(output: string): string {
  const text = output.includes("\b") ? output.replace(/[^\n\x1b]\x08/g, "") : output;
  if (!text.includes("\r")) return text;
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .join("\n");
}

function push(runs: Run[], written: string, pen: Pen): void {
  const text = written.replace(SILENT, "");
  if (!text) return;
  const look = [...pen.flags, pen.fg, pen.bg].flatMap((name) => (name ? `sa-${name}` : [])).join(" ");
  runs.push({ text, look, ...(pen.color && { color: pen.color }), ...(pen.background && { background: pen.background }) });
}

function take(pen: Pen, codes: number[]): void {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) reset(pen);
    else if (FLAGS[code]) pen.flags.add(FLAGS[code]);
    else if (code === 22) ["bold", "dim"].forEach((flag) => pen.flags.delete(flag));
    else if (code === 23) pen.flags.delete("italic");
    else if (code === 24) pen.flags.delete("underline");
    else if (code >= 30 && code <= 37) setFg(pen, `fg${code - 30}`);
    else if (code >= 90 && code <= 97) setFg(pen, `fg${code - 82}`);
    else if (code === 39) setFg(pen, null);
    else if (code >= 40 && code <= 47) setBg(pen, `bg${code - 40}`);
    else if (code >= 100 && code <= 107) setBg(pen, `bg${code - 92}`);
    else if (code === 49) setBg(pen, null);
    else if (code === 38 || code === 48) at += extended(pen, code === 38, codes.slice(at + 1));
  }
}

/** `38;5;n` or `38;2;r;g;b`, with the number of codes it takes. */
function extended(pen: Pen, foreground: boolean, rest: number[]): number {
  const [kind, first = 0, green = 0, blue = 0] = rest;
  if (kind === 5 && first < 16) {
    if (foreground) setFg(pen, `fg${first}`);
    else setBg(pen, `bg${first}`);
    return 2;
  }
  const color = kind === 5 ? fromPalette(first) : kind === 2 ? `rgb(${first} ${green} ${blue})` : undefined;
  if (foreground) {
    setFg(pen, null);
    pen.color = color;
  } else {
    setBg(pen, null);
    pen.background = color;
  }
  return kind === 5 ? 2 : kind === 2 ? 4 : 0;
}

function fromPalette(index: number): string {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`;
}

function setFg(pen: Pen, name: string | null): void {
  pen.fg = name;
  pen.color = undefined;
}

function setBg(pen: Pen, name: string | null): void {
  pen.bg = name;
  pen.background = undefined;
}

function reset(pen: Pen): void {
  pen.flags.clear();
  setFg(pen, null);
  setBg(pen, null);
}
