import type { StateCore, Token } from 'markdown-it';

const longestSlug = 200;

/** Returns the id of a heading as GitLab forms it: `Two words!` is `two-words`. */
export const toSlug = (title: string): string =>
  title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
    .replaceAll(/-{2,}/g, '-')
    .replace(/^(\d+)$/, 'anchor-$1')
    .slice(0, longestSlug);

/** Returns the text of parsed tokens without its format. */
export const readText = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content, children }) => {
      if (type === 'image') return readText(children ?? []);
      return type === 'text' || type === 'code_inline' || type === 'text_special' ? content : '';
    })
    .join('');

/** Gives every heading an id, so that links can point to it. Repeated titles get a number. */
export const identifyHeadings = ({ tokens }: StateCore): void => {
  const counts = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const slug = toSlug(readText(tokens[index + 1]?.children ?? []));
    if (slug === '') continue;
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    token.attrSet('id', count === 0 ? slug : `${slug}-${count}`);
  }
};
