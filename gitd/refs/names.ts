/** Names of refs: git's own rules (`git check-ref-format`), and what we refuse beside. */

/** What `git check-ref-format` refuses anywhere in a name. */
// oxlint-disable-next-line no-control-regex -- those are what is looked for
const refused = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|^[/.]|[/.]$/;

/** Also what stands for bytes that are no UTF-8. Controls that turn the direction of a text around, invisible ones, and the second set of control characters. */
const deceiving =
  /[\u0080-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]|[\u{e0000}-\u{e007f}]/u;

/** Bytes. A part is a file's name, which takes 255 with `.lock` behind it. */
const longest = { short: 255, full: 300, part: 250 };

const isWellFormed = (name: string): boolean =>
  name !== '@' &&
  !refused.test(name) &&
  name.isWellFormed() &&
  name.split('/').every((part) => part !== '' && Buffer.byteLength(part) <= longest.part);

/** A full ref that git takes: `refs/` and at least two parts more. */
export const isFullRef = (name: unknown): name is string =>
  typeof name === 'string' &&
  /^refs\/[^/]+\/./.test(name) &&
  Buffer.byteLength(name) <= longest.full &&
  isWellFormed(name);

/** What follows `refs/heads/` or `refs/tags/`: also none that git or a reader would take for something else. */
export const isShortName = (name: unknown): name is string =>
  typeof name === 'string' &&
  Buffer.byteLength(name) <= longest.short &&
  isWellFormed(name) &&
  !name.startsWith('-') &&
  name !== 'HEAD' &&
  !name.startsWith('refs/') &&
  !/^[0-9a-f]{40}$/i.test(name) &&
  !deceiving.test(name);

const shortPattern = /^refs\/(?:heads|tags)\/(.+)$/s;

/** A ref that may be made. (Those that exist may have older, odder names.) */
export const isNewRef = (name: unknown): name is string => {
  if (!isFullRef(name)) return false;
  const short = shortPattern.exec(name)?.[1];
  return short === undefined ? !deceiving.test(name) : isShortName(short);
};
