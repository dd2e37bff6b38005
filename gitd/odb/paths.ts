/**
 * Which paths may get into a tree. Our own writes do not pass receive-pack, so what `git fsck` refuses in a push is
 * refused here: names that some file system takes for `.git`, and with them for the way to run code in a clone.
 */

const longestPath = 4096;
const longestName = 255;
const deepest = 128;

/** Code points that HFS+ leaves out when it compares names. */
const ignoredByHfs = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/** `.git`, its short name, and what NTFS adds without making it another file. */
const dotGit = /^(?:\.git|git~1)[ .]*(?:$|[:\\/])/iu;

const endOfAlias = String.raw`[ .]*(?:$|:)`;

/**
 * The names that file systems take for a file of git's own.
 * @param short what NTFS makes of the name when `~1` to `~4` are taken
 */
const aliasesOf = (name: string, short: string): RegExp => {
  // `gi7eba~1`, `gi7eb~10`, ... `~1000000`: eight characters in all
  const hashed = Array.from(
    { length: short.length + 1 },
    (_, kept) => `${short.slice(0, kept)}~[1-9][0-9]{${short.length - kept}}`,
  );
  const all = [`\\.${name}`, `${name.slice(0, 6)}~[1-4]`, ...hashed];
  return new RegExp(`^(?:${all.join('|')})${endOfAlias}`, 'iu');
};

const gitmodules = aliasesOf('gitmodules', 'gi7eba');
const gitattributes = aliasesOf('gitattributes', 'gi7d29');

const seenByHfs = (name: string): string => name.replaceAll(ignoredByHfs, '');

/** Where a backslash parts folders, each part is a name. */
const isBadName = (name: string): boolean =>
  name.split('\\').some((part) => part === '.' || part === '..' || dotGit.test(part)) ||
  dotGit.test(seenByHfs(name));

/** Whether a file may be put there: a path from the root, without a slash at either end. */
export const isGoodPath = (path: string): boolean => {
  if (path === '' || !path.isWellFormed() || /[\0\n]/u.test(path)) return false;
  if (Buffer.byteLength(path) > longestPath) return false;
  const names = path.split('/');
  return (
    names.length <= deepest &&
    names.every((name) => name !== '' && Buffer.byteLength(name) <= longestName && !isBadName(name))
  );
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const isAlias = (name: string, pattern: RegExp): boolean =>
  pattern.test(name) || pattern.test(seenByHfs(name));

/** Whether some file system takes it for `.gitmodules`, which tells a clone where to fetch from. */
export const isGitmodules = (path: string): boolean => isAlias(nameOf(path), gitmodules);

/** Whether git looks at the content before it lets it in. */
export const isJudgedByContent = (path: string): boolean =>
  isGitmodules(path) || isAlias(nameOf(path), gitattributes);
