/**
 * Markdown as React elements, never as HTML: an agent's text can become only text, and links that show where they lead.
 * Text that is being streamed is parsed again each time; markup that is not closed yet is shown as it is. Each block has
 * the direction of its own script. A long text is parsed and rendered in pieces.
 */
import { marked, type Token, type Tokens } from "marked";
import { Fragment, memo, type ReactNode, useMemo } from "react";
import { CodeText } from "../code/codeText.js";
import { CopyButton } from "../parts/copyButton.js";
import type { Piece } from "./pieces.js";
import { PlainText } from "./plainText.js";

/** Nested quotes: beyond this depth no layout is sensible, and browsers run out of stack. */
const DEEPEST = 40;
const SAFE_LINK = /^(https?:|mailto:)/i;

export default memo(function MarkdownBlocks({ piece: { text, continues, goesOn } }: { piece: Piece }) {
  const tokens = useMemo(() => read(text), [text]);
  if (!tokens) return <PlainText text={text} />;
  const joints = `${continues ? " sa-continues" : ""}${goesOn ? " sa-goes-on" : ""}`;
  return <div className={`sa-markdown${joints}`}>{blocks(tokens, "auto")}</div>;
});

/** Null if the text is better shown as it is. */
function read(text: string): Token[] | null {
  try {
    const tokens = marked.lexer(text);
    return isDeeper(tokens, DEEPEST) ? null : tokens;
  } catch {
    // The parser runs out of stack after a few thousand levels.
    return null;
  }
}

function isDeeper(tokens: readonly Token[], levels: number): boolean {
  return tokens.some((token) => levels === 0 || isDeeper(inside(token), levels - 1));
}

function inside(token: Token): Token[] {
  const { tokens = [], items = [] } = token as Partial<Tokens.List & Tokens.Generic>;
  return [...tokens, ...items];
}

/** The outermost blocks have a direction, and their contents follow it. */
function blocks(tokens: readonly Token[], dir?: "auto"): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{block(token, dir)}</Fragment>);
}

function block(token: Token, dir?: "auto"): ReactNode {
  switch (token.type) {
    case "heading": {
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as "h3";
      return <Heading dir={dir}>{inline(token.tokens)}</Heading>;
    }
    case "paragraph":
      return <p dir={dir}>{inline(token.tokens)}</p>;
    case "code":
      return <CodeBlock text={token.text as string} language={(token as Tokens.Code).lang ?? ""} />;
    case "blockquote":
      return <blockquote dir={dir}>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} dir={dir} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    case "html":
      return <p>{(token as Tokens.HTML).raw}</p>;
    default:
      return "tokens" in token && token.tokens ? inline(token.tokens) : unescaped((token as Tokens.Text).text ?? token.raw);
  }
}

function List({ list, dir }: { list: Tokens.List; dir?: "auto" }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? "sa-task" : undefined}>
      {item.task && <input type="checkbox" checked={item.checked} disabled aria-label={item.checked ? "done" : "open"} />}
      {blocks(item.tokens.filter((token) => token.type !== "checkbox"))}
    </li>
  ));
  if (!list.ordered) return <ul dir={dir}>{items}</ul>;
  return (
    <ol dir={dir} start={Number(list.start) || 1}>
      {items}
    </ol>
  );
}

function Table({ table }: { table: Tokens.Table }) {
  const cell = (of: Tokens.TableCell) => ({ dir: "auto", className: of.align ? `sa-align-${of.align}` : undefined, children: inline(of.tokens) });
  return (
    <div className="sa-table-box" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((head, index) => (
              <th key={index} {...cell(head)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((data, column) => (
                <td key={column} {...cell(data)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <div className="sa-code-block">
      <header>
        <span>{language || "text"}</span>
        <CopyButton text={text} label="Copy the code" />
      </header>
      <pre tabIndex={0} aria-label="Code">
        <CodeText text={text} language={language.split(/[\s{,]/, 1)[0]?.toLowerCase() ?? ""} />
      </pre>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Fragment key={index}>{span(token)}</Fragment>);
}

function span(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text as string}</code>;
    case "br":
      return <br />;
    case "link":
      return isGuessedAddress(token as Tokens.Link) ? token.raw : <Link href={(token as Tokens.Link).href}>{inline(token.tokens)}</Link>;
    case "image":
      // Nothing is fetched from an address that an agent wrote.
      return <Link href={(token as Tokens.Image).href}>{(token as Tokens.Image).text || (token as Tokens.Image).href}</Link>;
    case "html":
      return token.raw;
    default:
      return "tokens" in token && token.tokens ? inline(token.tokens) : unescaped((token as Tokens.Text).text ?? token.raw);
  }
}

/** `react@18.2.0` looks like an email address, and so does every package with a version: only explicit mail links are links. */
function isGuessedAddress({ href, raw }: Tokens.Link): boolean {
  return href.startsWith("mailto:") && !/^[[<]/.test(raw);
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!SAFE_LINK.test(href)) return <span title={href}>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Entities in prose are decoded; in code they stay as they are. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
