import { type Html, html } from './html.ts';

/** Renders a full path with a link to each part. @param before shown before the path */
export const crumbs = (fullPath: string, { before }: { before?: Html } = {}): Html => {
  const parts = fullPath.split('/');
  const links = parts.map((part, at) => {
    const path = `/${parts.slice(0, at + 1).join('/')}`;
    return at === parts.length - 1
      ? html`<strong><a href="${path}">${part}</a></strong>`
      : html`<a href="${path}">${part}</a><span class="muted">/</span>`;
  });
  return html`<div class="crumbs">${before}${links}</div>`;
};
