/** `release` of a job: what is published once it succeeded. */
import { type At, fault, hashOf, inner, knowsKeys, oneOfAt, stringOrStrings, textAt } from './check.ts';
import { type Hash, type Node, entryOf, isNull, keyPlace, plainOf, wordOf } from './node.ts';

const releaseKeys = new Set(
  'tag_name tag_message name description ref released_at milestones assets'.split(' '),
);
const assetKeys = new Set(['links']);
const linkKeys = new Set(['name', 'url', 'filepath', 'direct_asset_path', 'link_type']);
const linkTypes = ['other', 'runbook', 'image', 'package'] as const;

/** A day, and a time of it, as ISO 8601 writes them. */
const timeText = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

const required = (at: At, hash: Hash, key: string): void => {
  const text = textAt(at, hash, key);
  if (entryOf(hash, key) === undefined || text?.trim() === '') {
    fault(at, `${key.replaceAll('_', ' ')} can't be blank`, keyPlace(hash, key));
  }
};

const checkTime = (at: At, hash: Hash): void => {
  const node = entryOf(hash, 'released_at');
  if (node === undefined) return;
  const text = wordOf(node) ?? '';
  const isTime = timeText.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10)));
  if (!isTime) fault(at, 'released at must be a valid datetime', node.place);
};

const checkLink = (at: At, node: Node): void => {
  if (node.kind !== 'hash') return fault(at, 'config should be a hash', node.place);
  const link = inner(at, 'link');
  knowsKeys(link, node, linkKeys);
  for (const key of ['name', 'url']) required(link, node, key);
  for (const key of ['filepath', 'direct_asset_path']) textAt(link, node, key);
  oneOfAt(link, node, 'link_type', { words: linkTypes });
};

const checkAssets = (at: At, node: Node | undefined): void => {
  const assets = hashOf(at, node);
  if (assets === null) return;
  knowsKeys(at, assets, assetKeys);
  const links = entryOf(assets, 'links');
  if (links === undefined) return fault(at, "links can't be blank", assets.place);
  if (links.kind !== 'list') return fault(at, 'links should be an array of hashes', links.place);
  for (const link of links.items) checkLink(inner(at, 'links'), link);
};

/** As it was written; what is wrong with it is told. */
export const releaseOf = (at: At, node: Node | undefined): unknown => {
  if (node === undefined || isNull(node)) return null;
  const release = hashOf(at, node);
  if (release === null) return null;
  knowsKeys(at, release, releaseKeys);
  for (const key of ['tag_name', 'description']) required(at, release, key);
  for (const key of ['tag_message', 'name', 'ref']) textAt(at, release, key);
  stringOrStrings(at, entryOf(release, 'milestones'), 'milestones should be an array of strings or a string');
  checkTime(at, release);
  checkAssets(inner(at, 'assets'), entryOf(release, 'assets'));
  return plainOf(release);
};
