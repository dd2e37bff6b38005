/** What a release links to beside its sources: packages, pages, anything with an address. */
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { type Problems, invalid, notGiven } from '../errors.ts';
import type { ReleaseLinkRow } from './json.ts';
import { findLink } from './queries.ts';

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const;

export type LinkType = (typeof linkTypes)[number];

export type Link = { name: string; url: string; filepath: string | null; link_type: LinkType };

const mostLinks = 100;
const longestName = 255;
/** Characters, and bytes: PostgreSQL's index of them takes no more than 2,704. */
const longestUrl = 2048;

const isAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^(?:https?|ftp):$/.test(url.protocol) && url.host !== '';
};

/** Each part begins with its slash, so that nothing can be tried twice: this takes linear time. */
const filepathPattern = /^(?:\/[\w.-]+)+(?<![.])$/;

/** @throws Failure 400 */
export const checkLink = (link: Link): void => {
  const problems: Problems = {};
  if (link.name.trim() === '') problems['name'] = ["can't be blank"];
  if (!isAddress(link.url)) problems['url'] = ['is blocked: Only allowed schemes are http, https, ftp'];
  if (Buffer.byteLength(link.url) > longestUrl)
    problems['url'] = [`is too long (maximum is ${longestUrl} bytes)`];
  if (link.filepath !== null && (link.filepath.length > 128 || !filepathPattern.test(link.filepath))) {
    problems['filepath'] = ['is in an invalid format'];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

type Parts = { [name: string]: unknown };

const partsOf = (given: unknown): Parts => {
  if (typeof given !== 'object' || given === null) throw invalid({ assets: ['is invalid'] });
  return given as Parts;
};

const textOf = (parts: Parts, name: string, most: number): string | null => {
  const value = parts[name];
  if (value === undefined || value === null || value === '') return null;
  const isText = typeof value === 'string' && value.length <= most;
  if (!isText || !value.isWellFormed() || value.includes('\0')) throw invalid({ [name]: ['is invalid'] });
  return value;
};

const linkOf = (given: unknown): Link => {
  const parts = partsOf(given);
  const [name, url] = [textOf(parts, 'name', longestName), textOf(parts, 'url', longestUrl)];
  if (name === null) throw notGiven('assets[links][name]');
  if (url === null) throw notGiven('assets[links][url]');
  const type = textOf(parts, 'link_type', longestName) ?? 'other';
  const link_type = linkTypes.find((one) => one === type);
  if (link_type === undefined) throw invalid({ link_type: ['does not have a valid value'] });
  const filepath = textOf(parts, 'direct_asset_path', longestName) ?? textOf(parts, 'filepath', longestName);
  const link = { name, url, filepath, link_type };
  checkLink(link);
  return link;
};

/** The links that `assets[links]` names. */
export const linksGiven = (assets: unknown): Link[] => {
  if (assets === undefined || assets === null || assets === '') return [];
  const { links } = partsOf(assets);
  if (links === undefined || links === null || links === '') return [];
  const list = Array.isArray(links) ? (links as unknown[]) : Object.values(partsOf(links));
  if (list.length > mostLinks) throw invalid({ assets: [`is too long (maximum is ${mostLinks} values)`] });
  const all = list.map(linkOf);
  for (const name of ['name', 'url'] as const) {
    const distinct = new Set(all.map((link) => link[name]));
    if (distinct.size < all.length) throw invalid({ [name]: ['has already been taken'] });
  }
  return all;
};

/** Within a release, a name and an address are there once. */
const requireFree = async (tx: Tx, releaseId: number, { name, url }: Link, own?: number): Promise<void> => {
  const taken = await tx.db
    .selectFrom('release_links')
    .select(['id', 'name', 'url'])
    .where('release_id', '=', releaseId)
    .where((is) => is.or([is('name', '=', name), is('url', '=', url)]))
    .execute();
  const others = taken.filter(({ id }) => id !== own);
  const problems: Problems = {};
  if (others.some((one) => one.name === name)) problems['name'] = ['has already been taken'];
  if (others.some((one) => one.url === url)) problems['url'] = ['has already been taken'];
  if (others.length > 0) throw invalid(problems);
};

const count = async (tx: Tx, releaseId: number): Promise<number> => {
  const row = await tx.db
    .selectFrom('release_links')
    .select((is) => is.fn.countAll<number>().as('links'))
    .where('release_id', '=', releaseId)
    .executeTakeFirstOrThrow();
  return row.links;
};

export const addLink = async (tx: Tx, releaseId: number, link: Link): Promise<ReleaseLinkRow> => {
  await requireFree(tx, releaseId, link);
  if ((await count(tx, releaseId)) >= mostLinks) {
    throw invalid({ base: [`is too long (maximum is ${mostLinks} values)`] });
  }
  const row = { release_id: releaseId, ...link };
  return { id: await insertRow(tx.db, 'release_links', row), ...row };
};

export const changeLink = async (
  tx: Tx,
  { release_id, id }: ReleaseLinkRow,
  link: Link,
): Promise<ReleaseLinkRow> => {
  await requireFree(tx, release_id, link, id);
  await tx.db.updateTable('release_links').set(link).where('id', '=', id).execute();
  return await findLink(tx.db, release_id, id);
};
