/** Builds the Markdown parser: GitLab's flavor on top of CommonMark, tables and strikethrough. */
import makeMarkdownIt, { type MarkdownIt, type StateCore } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { renderFence } from './fences.ts';
import { identifyHeadings } from './headings.ts';
import { markFormulas, parseFormulaBlock } from './math/parse_formulas.ts';
import { parseMultilineQuote } from './multiline_quotes.ts';
import type { Environment } from './options.ts';
import { markAlerts } from './syntax/alerts.ts';
import { boundTables } from './syntax/bounded_tables.ts';
import { parseFrontMatter } from './syntax/front_matter.ts';
import { parseInlineDifference } from './syntax/inline_differences.ts';
import { writeTableOfContents } from './syntax/table_of_contents.ts';
import { markTasks } from './task_lists.ts';

const maxNesting = 50;

/** Links every address that starts with `www.`, as GitLab does. Names such as `README.md` are not linked. */
const addWebLinks = ({ linkify }: MarkdownIt): void => {
  linkify.set({ fuzzyLink: false, fuzzyEmail: true });
  linkify.add('www.', {
    validate: (text, at) =>
      /^[\w-]+(?:\.[\w-]+)+(?:[/?#][^\s<>"]*[^\s<>"'.,:;!?)\]*_~])?/.exec(text.slice(at, at + 2_000))?.[0]
        .length ?? 0,
    normalize: (match) => {
      match.url = `http://${match.url}`;
    },
  });
};

const alignments: Record<string, string> = {
  'text-align:left': 'left',
  'text-align:center': 'center',
  'text-align:right': 'right',
};

/** Aligns cells by an attribute: pages forbid inline styles. */
const alignByAttribute = ({ tokens }: StateCore): void => {
  for (const token of tokens) {
    if (token.type !== 'th_open' && token.type !== 'td_open') continue;
    const align = alignments[token.attrGet('style') ?? ''];
    token.attrs = align === undefined ? [] : [['align', align]];
  }
};

const addCoreRules = ({ core: { ruler } }: MarkdownIt): void => {
  ruler.after('block', 'alerts', markAlerts);
  ruler.after('inline', 'alignment', alignByAttribute);
  ruler.after('inline', 'math', markFormulas);
  ruler.after('inline', 'tasks', markTasks);
  ruler.after('inline', 'headings', identifyHeadings);
  ruler.after('headings', 'table_of_contents', writeTableOfContents);
};

const makeParser = (hasFootnotes: boolean): MarkdownIt => {
  const parser = makeMarkdownIt({ html: true, linkify: true, maxNesting });
  // The sanitizer decides about schemes, so that a refused link keeps its text.
  parser.validateLink = () => true;
  addWebLinks(parser);
  boundTables(parser);
  if (hasFootnotes) {
    parser.use(footnotes);
    // Inline footnotes (`^[text]`) are not part of GitLab's flavor, and nest without a limit.
    parser.inline.ruler.disable('footnote_inline');
  }
  parser.block.ruler.before('blockquote', 'multiline_quote', parseMultilineQuote, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
  parser.block.ruler.before('table', 'front_matter', parseFrontMatter);
  parser.block.ruler.before('fence', 'formula', parseFormulaBlock);
  parser.inline.ruler.before('link', 'inline_difference', parseInlineDifference);
  addCoreRules(parser);
  parser.renderer.rules.fence = (tokens, index, _options, environment) =>
    renderFence(tokens[index], environment as Environment);
  return parser;
};

const parsers = { withFootnotes: makeParser(true), withoutFootnotes: makeParser(false) };

/** Texts with more definitions have no footnotes: collecting them takes quadratic time. */
const mostFootnotes = 500;

/** Renders a text as HTML that is not sanitized yet. */
export const renderUnsafe = (text: string, environment: Environment): string => {
  const definitions = text.match(/^[ >]*\[\^/gm)?.length ?? 0;
  const parser = definitions > mostFootnotes ? parsers.withoutFootnotes : parsers.withFootnotes;
  return parser.render(text, environment);
};
