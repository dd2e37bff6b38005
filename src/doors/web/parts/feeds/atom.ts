/** Writes Atom feeds (RFC 4287). */
import { RawPage, type Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';

type Author = { name: string; email?: string; uri?: string };

export type FeedEntry = {
  /** Default: the address of its page. */
  id?: string;
  title: string;
  /** Path of the page of the entry. */
  path: string;
  /** Milliseconds. */
  updated: number;
  author?: Author | null;
  /** Plain text. */
  summary?: string;
  content?: Html;
};

export type Feed = {
  title: string;
  /** Path of the page that the feed follows. */
  path: string;
  /** Path of the feed. */
  self: string;
  entries: readonly FeedEntry[];
};

/** Returns a text without the characters that XML 1.0 excludes. */
const clean = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what it removes
  text.toWellFormed().replaceAll(/[\0-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '');

const time = (milliseconds: number): string => new Date(milliseconds).toISOString();

const authorPart = ({ name, email, uri }: Author): Html =>
  html`<author><name>${clean(name)}</name>${uri !== undefined && html`<uri>${uri}</uri>`}${
    email !== undefined && email !== '' && html`<email>${clean(email)}</email>`
  }</author>`;

const entryPart = (baseUrl: string, entry: FeedEntry): Html => {
  const { title, path, updated, author, summary, content } = entry;
  const url = `${baseUrl}${path}`;
  const id = entry.id ?? url;
  return html`<entry>
<id>${id}</id>
<link href="${url}" rel="alternate" type="text/html"/>
<title>${clean(title)}</title>
<updated>${time(updated)}</updated>
${(author ?? null) !== null && authorPart(author ?? { name: '' })}${
    summary !== undefined && summary !== '' && html`<summary type="text">${clean(summary)}</summary>`
  }${content !== undefined && html`<content type="html">${clean(content.text)}</content>`}
</entry>
`;
};

/** Renders a feed as an answer. */
export const atomFeed = ({ call }: Visit, { title, path, self, entries }: Feed): RawPage => {
  const { baseUrl } = call;
  const newest = Math.max(0, ...entries.map(({ updated }) => updated));
  const { text } = html`<feed xmlns="http://www.w3.org/2005/Atom">
<title>${clean(title)}</title>
<link href="${baseUrl}${self}" rel="self" type="application/atom+xml"/>
<link href="${baseUrl}${path}" rel="alternate" type="text/html"/>
<id>${baseUrl}${path}</id>
<updated>${time(newest)}</updated>
${entries.map((entry) => entryPart(baseUrl, entry))}</feed>
`;
  return new RawPage(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`, {
    'content-type': 'application/atom+xml; charset=utf-8',
    // Browsers may show feeds themselves.
    'content-security-policy': "default-src 'none'; sandbox",
  });
};
