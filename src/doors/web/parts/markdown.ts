import type { Call } from '../../../core/access/call.ts';
import { type MarkdownContext, renderMarkdown, renderMarkdownTexts } from '../../markdown/render_markdown.ts';
import { type Html, html, trusted } from './html.ts';

/** Blocks of code scroll in themselves, which needs the focus where there is no pointer. */
const wrap = (text: string): Html =>
  html`<div class="prose">${trusted(text.replaceAll('<pre>', `<pre tabindex="0">`))}</div>`;

/** Renders a Markdown text for the viewer. `render_markdown.ts` describes the context. */
export const markdown = async (call: Call, text: string, context: MarkdownContext = {}): Promise<Html> =>
  wrap(await renderMarkdown(call, text, context));

/** Renders the Markdown texts of a page, such as comments, together: references take a few queries for all. */
export const markdownTexts = async (
  call: Call,
  texts: readonly string[],
  context: MarkdownContext = {},
): Promise<Html[]> => (await renderMarkdownTexts(call, texts, context)).map(wrap);
