/**
 * Decides which paths may get into a tree. Our writes do not pass receive-pack, so what `git fsck` refuses in a push
 * is refused here. Some file systems take certain names for `.git`, and a clone could then run code.
 */

const maxPathBytes = 4096;
const maxNameBytes = 255;
const maxDepth = 128;

/** Code points that HFS+ ignores when it compares names. */
const ignoredByHfs = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/** `.git`, its short name on NTFS, and suffixes that NTFS ignores. */
const dotGit = /^(?:\.git|git~1)[ .]*(?:$|[:\\/])/iu;

const endOfAlias = String.raw`[ .]*(?:$|:)`;

/**
 * Builds a pattern of the names that file systems take for a git file.
 * @param short what NTFS makes of the name when `~1` to `~4` are taken
 */
const matchAliases = (name: string, short: string): RegExp => {
  // `gi7eba~1`, `gi7eb~10`, ... `~1000000`: eight characters in all
  const hashed = Array.from(
    { length: short.length + 1 },
    (_, kept) => `${short.slice(0, kept)}~[1-9][0-9]{${short.length - kept}}`,
  );
  const aliases = [`\\.${name}`, `${name.slice(0, 6)}~[1-4]`, ...hashed];
  return new RegExp(`^(?:${aliases.join('|')})${endOfAlias}`, 'iu');
};

const gitmodules = matchAliases('gitmodules', 'gi7eba');
const gitattributes = matchAliases('gitattributes', 'gi7d29');

const seenByHfs = (name: string): string => name.replaceAll(ignoredByHfs, '');

/** Returns whether a name is unsafe. On Windows a backslash separates folders, so each part counts. */
const isBadName = (name: string): boolean =>
  name.split('\\').some((part) => part === '.' || part === '..' || dotGit.test(part)) ||
  dotGit.test(seenByHfs(name));

/** Returns whether a file may have this path: from the root, without a slash at either end. */
export const isSafePath = (path: string): boolean => {
  if (path === '' || !path.isWellFormed() || /[\0\n]/u.test(path)) return false;
  if (Buffer.byteLength(path) > maxPathBytes) return false;
  const names = path.split('/');
  return (
    names.length <= maxDepth &&
    names.every((name) => name !== '' && Buffer.byteLength(name) <= maxNameBytes && !isBadName(name))
  );
};

const getFileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const isAlias = (name: string, pattern: RegExp): boolean =>
  pattern.test(name) || pattern.test(seenByHfs(name));

/** Returns whether some file system treats the name as `.gitmodules`, which determines where a clone fetches from. */
export const isGitmodules = (path: string): boolean => isAlias(getFileName(path), gitmodules);

/** Returns whether git checks the content of a file with this name. */
export const isJudgedByContent = (path: string): boolean =>
  isGitmodules(path) || isAlias(getFileName(path), gitattributes);
