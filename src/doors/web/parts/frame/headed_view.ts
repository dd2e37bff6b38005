import { type Html, html } from '../html.ts';
import type { View } from '../../page.ts';

/** A view without a layout of its own: its title as heading, and the content. */
export const headedView = (title: string, content: Html): View => ({
  title,
  body: html`<h1>${title}</h1>
${content}`,
});
