import type { HtmlRenderer } from '../../projects/projects/related/html_renderer.ts';
import { renderMarkdownTexts, renderPlainTexts } from './render_markdown.ts';

/** Renders texts for answers of the API. */
export const htmlRenderer: HtmlRenderer = {
  markdown: async (call, project, texts) =>
    await renderMarkdownTexts(call, texts, { project, isAbsolute: true }),
  plain: async (call, project, texts) => await renderPlainTexts(call, texts, project, true),
};
