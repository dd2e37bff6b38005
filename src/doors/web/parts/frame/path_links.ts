import { type Html, html } from '../html.ts';

/** Renders a full path with a link to each part. @param root before each path, where all parts are groups */
export const pathLinks = (
  fullPath: string,
  { before, root = '' }: { before?: Html; root?: '' | '/groups' } = {},
): Html => {
  const parts = fullPath.split('/');
  const links = parts.map((part, at) => {
    const path = `${root}/${parts.slice(0, at + 1).join('/')}`;
    return at === parts.length - 1
      ? html`<strong><a href="${path}">${part}</a></strong>`
      : html`<a href="${path}">${part}</a><span class="muted">/</span>`;
  });
  return html`<div class="crumbs">${before}${links}</div>`;
};
