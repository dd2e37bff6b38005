/** The headings of rendered Markdown, as a menu of links. */
import { type Html, html, trusted } from '../../parts/html.ts';
import { menu } from '../../parts/menu.ts';

/** Fewer headings are found without a menu. */
const minHeadings = 3;
const maxHeadings = 500;

/** A heading as `rewrite_html.ts` writes it. Each is closed, so that this takes linear time. */
const heading = /<h([1-6]) id="(user-content-[^"]+)"[^>]*>([^]*?)<\/h[1-6]>/g;

/** Returns the menu; null if the text is short. */
export const outlineMenu = (content: Html): Html | null => {
  const headings = [...content.text.matchAll(heading)].slice(0, maxHeadings);
  if (headings.length < minHeadings) return null;
  const links = headings.map(([, level = '1', id = '', markup = '']) => {
    // The markup is escaped already.
    const text = trusted(markup.replaceAll(/<[^>]*>/g, ''));
    return html`<a class="rank-${level}" href="#${trusted(id)}">${text}</a>
`;
  });
  return menu(
    { summary: html`Contents`, classes: 'button small' },
    html`<div class="outline">${links}</div>`,
  );
};
