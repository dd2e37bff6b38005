/** Validates and stores the links of releases: packages, runbooks, images and other URLs. */
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Problems, invalid, missingAttribute } from '../../platform/errors.ts';
import type { ReleaseLinkRow } from './json.ts';
import { findLink } from './find_releases.ts';

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const;

export type LinkType = (typeof linkTypes)[number];

export type Link = { name: string; url: string; filepath: string | null; link_type: LinkType };

const maxLinks = 100;
const maxNameLength = 255;
/** Maximum characters and bytes of a URL. PostgreSQL's index takes at most 2,704 bytes. */
const maxUrlLength = 2048;

const isAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^(?:https?|ftp):$/.test(url.protocol) && url.host !== '';
};

/** Each segment starts with its slash, so the match does not backtrack and takes linear time. */
const filepathPattern = /^(?:\/[\w.-]+)+(?<![.])$/;

/** @throws Failure 400 */
export const checkLink = (link: Link): void => {
  const problems: Problems = {};
  if (link.name.trim() === '') problems['name'] = ["can't be blank"];
  if (!isAddress(link.url)) problems['url'] = ['is blocked: Only allowed schemes are http, https, ftp'];
  if (Buffer.byteLength(link.url) > maxUrlLength)
    problems['url'] = [`is too long (maximum is ${maxUrlLength} bytes)`];
  if (link.filepath !== null && (link.filepath.length > 128 || !filepathPattern.test(link.filepath))) {
    problems['filepath'] = ['is in an invalid format'];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

type Parts = { [name: string]: unknown };

const requireParts = (input: unknown): Parts => {
  if (typeof input !== 'object' || input === null) throw invalid({ assets: ['is invalid'] });
  return input as Parts;
};

const readText = (parts: Parts, name: string, maxLength: number): string | null => {
  const value = parts[name];
  if (value === undefined || value === null || value === '') return null;
  const isText = typeof value === 'string' && value.length <= maxLength;
  if (!isText || !value.isWellFormed() || value.includes('\0')) throw invalid({ [name]: ['is invalid'] });
  return value;
};

const parseLink = (input: unknown): Link => {
  const parts = requireParts(input);
  const [name, url] = [readText(parts, 'name', maxNameLength), readText(parts, 'url', maxUrlLength)];
  if (name === null) throw missingAttribute('assets[links][name]');
  if (url === null) throw missingAttribute('assets[links][url]');
  const type = readText(parts, 'link_type', maxNameLength) ?? 'other';
  const link_type = linkTypes.find((one) => one === type);
  if (link_type === undefined) throw invalid({ link_type: ['does not have a valid value'] });
  const filepath =
    readText(parts, 'direct_asset_path', maxNameLength) ?? readText(parts, 'filepath', maxNameLength);
  const link = { name, url, filepath, link_type };
  checkLink(link);
  return link;
};

/** Parses `assets[links]`. @throws Failure 400 */
export const parseLinks = (assets: unknown): Link[] => {
  if (assets === undefined || assets === null || assets === '') return [];
  const { links } = requireParts(assets);
  if (links === undefined || links === null || links === '') return [];
  const list = Array.isArray(links) ? (links as unknown[]) : Object.values(requireParts(links));
  if (list.length > maxLinks) throw invalid({ assets: [`is too long (maximum is ${maxLinks} values)`] });
  const parsedLinks = list.map(parseLink);
  for (const name of ['name', 'url'] as const) {
    const distinct = new Set(parsedLinks.map((link) => link[name]));
    if (distinct.size < parsedLinks.length) throw invalid({ [name]: ['has already been taken'] });
  }
  return parsedLinks;
};

/** Requires that no other link of the release has this name or URL. @throws Failure 400 */
const requireUnusedNameAndUrl = async (
  tx: Tx,
  releaseId: number,
  { name, url }: Link,
  own?: number,
): Promise<void> => {
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

const countLinks = async (tx: Tx, releaseId: number): Promise<number> => {
  const row = await tx.db
    .selectFrom('release_links')
    .select((is) => is.fn.countAll<number>().as('links'))
    .where('release_id', '=', releaseId)
    .executeTakeFirstOrThrow();
  return row.links;
};

export const addLink = async (tx: Tx, releaseId: number, link: Link): Promise<ReleaseLinkRow> => {
  await requireUnusedNameAndUrl(tx, releaseId, link);
  if ((await countLinks(tx, releaseId)) >= maxLinks) {
    throw invalid({ base: [`is too long (maximum is ${maxLinks} values)`] });
  }
  const row = { release_id: releaseId, ...link };
  return { id: await insertRow(tx.db, 'release_links', row), ...row };
};

export const changeLink = async (
  tx: Tx,
  { release_id, id }: ReleaseLinkRow,
  link: Link,
): Promise<ReleaseLinkRow> => {
  await requireUnusedNameAndUrl(tx, release_id, link, id);
  await tx.db.updateTable('release_links').set(link).where('id', '=', id).execute();
  return await findLink(tx.db, release_id, id);
};
