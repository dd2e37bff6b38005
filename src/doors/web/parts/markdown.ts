import type { Call } from '../../../core/access/call.ts';
import type { Project } from '../../../projects/projects/find.ts';
import {
  type MarkdownContext,
  renderMarkdown,
  renderMarkdownTexts,
  renderPlainTexts,
} from '../../markdown/render_markdown.ts';
import { type Html, html, trusted } from './html.ts';

/** Blocks of code scroll in themselves, which needs the focus where there is no pointer. */
export const wrapProse = (text: string): Html =>
  html`<div class="prose">${trusted(text.replaceAll('<pre>', `<pre tabindex="0">`))}</div>`;

/** Renders a Markdown text for the viewer. `render_markdown.ts` describes the context. */
export const markdown = async (call: Call, text: string, context: MarkdownContext = {}): Promise<Html> =>
  wrapProse(await renderMarkdown(call, text, context));

/** Renders the Markdown texts of a page, such as comments, together: references take a few queries for all. */
export const markdownTexts = async (
  call: Call,
  texts: readonly string[],
  context: MarkdownContext = {},
): Promise<Html[]> => (await renderMarkdownTexts(call, texts, context)).map(wrapProse);

/** Renders plain texts of a project, such as messages of commits, with links for their references. */
export const plainTexts = async (call: Call, texts: readonly string[], project: Project): Promise<Html[]> =>
  (await renderPlainTexts(call, texts, project)).map(trusted);
