/** A plain frame around a page, to look at it without Mintlify. */
const STYLE = `
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 52rem); gap: 3rem; background: #0c0e12; color: #d8dbe2; font: 16px/1.6 system-ui }
nav { padding: 1.5rem; font-size: 0.875rem; border-right: 1px solid #22262e } nav h4 { margin: 1.2rem 0 0.3rem } nav a { display: block; color: #9aa2b1; text-decoration: none } nav a.here { color: #8da4ef }
main { padding: 2rem 0 6rem } a { color: #8da4ef } h1, h2, h3, h4 { color: #fff; line-height: 1.25 }
code { font: 0.86em ui-monospace, monospace; background: #171a21; padding: 0.1em 0.3em; border-radius: 4px } pre { background: #171a21; padding: 1rem; overflow-x: auto; border-radius: 8px } pre code { padding: 0 }
table { border-collapse: collapse; display: block; overflow-x: auto } td, th { border-bottom: 1px solid #22262e; padding: 0.4rem 0.8rem 0.4rem 0; text-align: left; vertical-align: top }
details, .note, .warning { border: 1px solid #22262e; border-radius: 8px; padding: 0.6rem 1rem; margin: 0.5rem 0 } summary { font-family: ui-monospace, monospace; font-size: 0.875rem } .warning { border-color: #8a6116 } img { max-width: 100% }`;

export function shell({ title, html, config, name }) {
  const up = "../".repeat(name.split("/").length - 1);
  const groups = config.navigation.groups.map(
    ({ group, pages }) =>
      `<h4>${group}</h4>` + pages.map((page) => `<a href="${up}${page}.html"${page === name ? ' class="here"' : ""}>${page}</a>`).join(""),
  );
  const linked = html
    .replaceAll(/(href)="\/([\w/-]+)(#[^"]*)?"/g, (_, kind, page, anchor = "") => `${kind}="${up}${page}.html${anchor}"`)
    .replaceAll('src="/', `src="${up}`);
  return `<!doctype html><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style><nav>${groups.join("")}</nav><main id="content"><h1>${title}</h1>${linked}</main>\n`;
}
