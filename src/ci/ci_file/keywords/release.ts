/** Validates `release` of a job. */
import {
  type At,
  reportFault,
  parseHash,
  inner,
  checkKeys,
  oneOfAt,
  stringOrStrings,
  textAt,
} from './typed_values.ts';
import {
  type Hash,
  type Node,
  getEntry,
  isNull,
  getKeyPosition,
  toPlainValue,
  getScalarText,
} from '../syntax/node.ts';

export const releaseKeys = new Set(
  'tag_name tag_message name description ref released_at milestones assets'.split(' '),
);
const assetKeys = new Set(['links']);
const linkKeys = new Set(['name', 'url', 'filepath', 'direct_asset_path', 'link_type']);
const linkTypes = ['other', 'runbook', 'image', 'package'] as const;

/** An ISO 8601 date, optionally with time. */
const timeText = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

const requireText = (at: At, hash: Hash, key: string): void => {
  const text = textAt(at, hash, key);
  if (getEntry(hash, key) === undefined || text?.trim() === '') {
    reportFault(at, `${key.replaceAll('_', ' ')} can't be blank`, getKeyPosition(hash, key));
  }
};

const checkTime = (at: At, hash: Hash): void => {
  const node = getEntry(hash, 'released_at');
  if (node === undefined) return;
  const text = getScalarText(node) ?? '';
  const isTime = timeText.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10)));
  if (!isTime) reportFault(at, 'released at must be a valid datetime', node.position);
};

const checkLink = (at: At, node: Node): void => {
  if (node.kind !== 'hash') return reportFault(at, 'config should be a hash', node.position);
  const link = inner(at, 'link');
  checkKeys(link, node, linkKeys);
  for (const key of ['name', 'url']) requireText(link, node, key);
  for (const key of ['filepath', 'direct_asset_path']) textAt(link, node, key);
  oneOfAt(link, node, 'link_type', { words: linkTypes });
};

const checkAssets = (at: At, node: Node | undefined): void => {
  const assets = parseHash(at, node);
  if (assets === null) return;
  checkKeys(at, assets, assetKeys);
  const links = getEntry(assets, 'links');
  if (links === undefined) return reportFault(at, "links can't be blank", assets.position);
  if (links.kind !== 'list') return reportFault(at, 'links should be an array of hashes', links.position);
  for (const link of links.items) checkLink(inner(at, 'links'), link);
};

/** Validates the keyword and returns it unchanged as a plain value. */
export const parseRelease = (at: At, node: Node | undefined): unknown => {
  if (node === undefined || isNull(node)) return null;
  const release = parseHash(at, node);
  if (release === null) return null;
  checkKeys(at, release, releaseKeys);
  for (const key of ['tag_name', 'description']) requireText(at, release, key);
  for (const key of ['tag_message', 'name', 'ref']) textAt(at, release, key);
  stringOrStrings(
    at,
    getEntry(release, 'milestones'),
    'milestones should be an array of strings or a string',
  );
  checkTime(at, release);
  checkAssets(inner(at, 'assets'), getEntry(release, 'assets'));
  return toPlainValue(release);
};
