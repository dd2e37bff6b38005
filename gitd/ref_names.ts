/** Checks names of refs: git's rules (`git check-ref-format`) and ours. */

/** Characters and sequences that `git check-ref-format` refuses anywhere in a name. */
// oxlint-disable-next-line no-control-regex -- those are what is looked for
const refused = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|^[/.]|[/.]$/;

/** Replacement characters, bidirectional controls, invisible characters, and C1 control characters. */
const deceiving =
  /[\u0080-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]|[\u{e0000}-\u{e007f}]/u;

/** Maximum bytes. A part is a file name, limited to 255 bytes including `.lock`. */
const maxBytes = { short: 255, full: 300, part: 250 };

const isWellFormed = (name: string): boolean =>
  name !== '@' &&
  !refused.test(name) &&
  name.isWellFormed() &&
  name.split('/').every((part) => part !== '' && Buffer.byteLength(part) <= maxBytes.part);

/** Returns whether git accepts the full ref: `refs/` and at least two more parts. */
export const isFullRef = (name: unknown): name is string =>
  typeof name === 'string' &&
  /^refs\/[^/]+\/./.test(name) &&
  Buffer.byteLength(name) <= maxBytes.full &&
  isWellFormed(name);

/** Returns whether a branch or tag may have this name: git and readers must not mistake it for something else. */
export const isShortName = (name: unknown): name is string =>
  typeof name === 'string' &&
  Buffer.byteLength(name) <= maxBytes.short &&
  isWellFormed(name) &&
  !name.startsWith('-') &&
  name !== 'HEAD' &&
  !name.startsWith('refs/') &&
  !/^[0-9a-f]{40}$/i.test(name) &&
  !deceiving.test(name);

const shortPattern = /^refs\/(?:heads|tags)\/(.+)$/s;

/** Returns whether a new ref may have this name. Existing refs may have older, odder names. */
export const isNewRef = (name: unknown): name is string => {
  if (!isFullRef(name)) return false;
  const short = shortPattern.exec(name)?.[1];
  return short === undefined ? !deceiving.test(name) : isShortName(short);
};
