/** Formats numbers and times for people. */

export function duration(milliseconds: number): string {
  if (milliseconds < 950) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 9_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  // Rounded before it is divided, so that nothing lasts 1 min 60 s.
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return twoUnits(minutes, "min", seconds % 60, "s");
  return twoUnits(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

/** `2 min 5 s`, but `2 min` without a rest. */
function twoUnits(whole: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`;
}

export function ago(time: string | number, now: number): string {
  const seconds = Math.max(0, (now - new Date(time).getTime()) / 1000);
  if (seconds < 45) return "now";
  // Rounded before it is compared, so that nothing is 60 min or 24 h old.
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(seconds / 3600);
  if (hours < 24) return `${hours} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export function clock(time: string | number): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** The time of day, with the date unless it is today's. */
export function moment(time: string | number, now = new Date()): string {
  const date = new Date(time);
  if (date.toDateString() === now.toDateString()) return clock(time);
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** With milliseconds, in local time like all other times. */
export function clockMs(time: string): string {
  const date = new Date(time);
  const two = (figure: number) => String(figure).padStart(2, "0");
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
}

export function dateAndClock(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

export function count(number: number): string {
  if (number < 10_000) return number.toLocaleString("en");
  if (number < 999_500) return `${(number / 1000).toFixed(number < 99_950 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

export function money(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.00005) return "< $0.0001";
  return dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

/** A percentage: `3 %`. */
export function share(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}

export function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  let figure = size / 1024;
  for (const unit of ["KB", "MB"]) {
    if (figure < 1023.95) return `${figure.toFixed(1)} ${unit}`;
    figure /= 1024;
  }
  return `${figure.toFixed(1)} GB`;
}

export function lastPart(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

/** Paths below a directory are shown relative to it. */
export function withoutDirectory(path: string, directory: string | null): string {
  return directory && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}
