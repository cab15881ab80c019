/** A small set of line icons. They are decorative: the text beside them says the same. */

const PATHS = {
  alert: "M12 8v5M12 16.5v.01M10.3 4 2.6 17.5A2 2 0 0 0 4.3 20.5h15.4a2 2 0 0 0 1.7-3L13.7 4a2 2 0 0 0-3.4 0Z",
  arrowDown: "M12 5v14M6 13l6 6 6-6",
  arrowUp: "M12 19V5M6 11l6-6 6 6",
  back: "M15 5l-7 7 7 7",
  bolt: "M13 3 5 13.5h6L10.5 21 19 10.5h-6L13 3Z",
  bug: "M8 8a4 4 0 0 1 8 0v1H8V8ZM7 12h10v3a5 5 0 0 1-10 0v-3ZM4 9l3 2M20 9l-3 2M3.5 14H7M20.5 14H17M5 20l2.5-2M19 20l-2.5-2",
  check: "M5 12.5 10 17.5 19 7",
  chevron: "M9 6l6 6-6 6",
  clip: "M20 11.5 12 19.3a4.6 4.6 0 0 1-6.5-6.5L13.6 5a3.1 3.1 0 0 1 4.4 4.4l-8 7.7a1.5 1.5 0 0 1-2.2-2.1l7.3-7",
  clock: "M12 7v5l3.5 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h10v11H9zM15 9V5H5v11h4",
  cross: "M7 7l10 10M17 7 7 17",
  dots: "M5 12h1M11.5 12h1M18 12h1",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  edit: "M4 20h4L19 9l-4-4L4 16v4ZM13 7l4 4",
  file: "M6 3h8l4 4v14H6zM14 3v5h4",
  folder: "M3 6h6l2 2.5h10V19H3z",
  globe: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  panel: "M3.5 5h17v14h-17zM14.5 5v14",
  plug: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0V8ZM12 17v4",
  plus: "M12 5v14M5 12h14",
  question: "M9 9.2A3 3 0 0 1 15 9.5c0 2-3 2.4-3 4.2M12 17v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  robot: "M5 9h14v10H5zM12 9V5M12 4v.01M9 13.5v.01M15 13.5v.01M9.5 16.5h5",
  refresh: "M20 11a8 8 0 0 0-14.5-3.5L4 9M4 4v5h5M4 13a8 8 0 0 0 14.5 3.5L20 15M20 20v-5h-5",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l4.5 4.5",
  send: "M5 12h13M12 5l7 7-7 7",
  shield: "M12 3 5 6v5c0 4.6 2.9 8 7 10 4.1-2 7-5.4 7-10V6l-7-3Z",
  stop: "M7 7h10v10H7z",
  sun: "M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  terminal: "M5 7l5 5-5 5M12 18h7",
  thought: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.8 10.7c.6.5.8 1.3.8 2.3h6c0-1 .2-1.8.8-2.3A6 6 0 0 0 12 3Z",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  undo: "M8 5 4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11H9",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0",
  wide: "M9 7l-5 5 5 5M15 7l5 5-5 5M4 12h16",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg className="sa-icon" style={{ width: size, height: size }} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
