/** Semantic versions of changelogs: which tag came before, and where the section of a version belongs. */
import type { Code } from '../../code/repository/find_code.ts';
import { tagPrefix } from '../../code/repository/refs/resolve.ts';
import type { Oid } from '../../platform/git/protocol_types.ts';
import type { Pattern } from '../../platform/pattern.ts';

/** Tags that are searched for the previous version; of more, the newest. */
const maxTags = 5_000;

const semver = /^v?(\d{1,15})\.(\d{1,15})\.(\d{1,15})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

type Version = { numbers: number[]; pre: string };

/** Parses a version; null if it is not a version. */
export const parseVersion = (text: string): Version | null => {
  const match = semver.exec(text);
  if (match === null) return null;
  return { numbers: match.slice(1, 4).map(Number), pre: match[4] ?? '' };
};

const comparePre = (a: string, b: string): number => {
  if (a === b) return 0;
  if (a === '' || b === '') return a === '' ? 1 : -1;
  const [left, right] = [a.split('.'), b.split('.')];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one, other] = [left[at], right[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one === other) continue;
    const areNumbers = /^\d+$/.test(one) && /^\d+$/.test(other);
    if (areNumbers && Number(one) !== Number(other)) return Number(one) - Number(other);
    return one < other ? -1 : 1;
  }
  return 0;
};

/** Orders versions, the lowest first. */
const compareVersions = (a: Version, b: Version): number => {
  for (const [at, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePre(a.pre, b.pre);
};

/**
 * Returns the commit of the tag with the highest version below this one, without pre-releases; null if there is none.
 */
export const findPreviousTag = async (
  { repository }: Code,
  version: Version,
  pattern: Pattern,
): Promise<Oid | null> => {
  const { refs } = await repository.ask('refs.list', {
    prefix: tagPrefix,
    sort: 'updated',
    offset: 0,
    limit: maxTags,
  });
  let previous: { version: Version; commit: Oid } | null = null;
  for (const { name, commit } of refs) {
    const groups = pattern.named(name.slice(tagPrefix.length), ['major', 'minor', 'patch', 'pre']);
    if (commit === null || groups === null || (groups['pre'] ?? '') !== '') continue;
    const candidate = parseVersion(`${groups['major']}.${groups['minor']}.${groups['patch']}`);
    if (candidate === null || compareVersions(candidate, version) >= 0) continue;
    if (previous === null || compareVersions(candidate, previous.version) > 0)
      previous = { version: candidate, commit };
  }
  return previous?.commit ?? null;
};

/** Inserts the section of a version into a changelog, above the sections of lower versions. */
export const insertSection = (existing: string, version: Version, section: string): string => {
  for (const match of existing.matchAll(/^## (\S+) .*$/gm)) {
    const listed = parseVersion(match[1] ?? '');
    if (listed === null || compareVersions(listed, version) > 0) continue;
    return `${existing.slice(0, match.index)}${section}\n${existing.slice(match.index)}`;
  }
  if (existing.trim() === '') return section;
  return `${existing.trimEnd()}\n\n${section}`;
};
