/**
 * Finds the issues that a text closes. Its grammar:
 *
 *     \b (keyword) :? ␣+ ( (issues? ␣+)? reference separator? | EXTERNAL-KEY )+
 *     separator = ␣* ,? ␣+ and ␣+  |  ␣* ,? ␣*
 *
 * where a keyword is a form of close, fix, resolve or implement, all lower-case but for its first letter,
 * and ␣ is a space, not a line end. A reference is `#1`, `project#1` of the same namespace,
 * `group/sub/project#1` or the address of an issue. Hand-written so that it takes linear time: each
 * character is passed a bounded number of times.
 */

const maxReferences = 100;
/** UTF-16 code units that are read. */
const maxTextLength = 2 ** 20;
const maxPathLength = 1024;
const maxNumberLength = 15;

const keywords = new Set(
  [
    'close closes closed closing',
    'fix fixes fixed fixing',
    'resolve resolves resolved resolving',
    'implement implements implemented implementing',
  ].flatMap((forms) => forms.split(' ')),
);
const longestKeyword = 12;

const spaceCharacter = /[ ]/;
const digitCharacter = /\d/;
const wordCharacter = /\w/;
const pathCharacter = /[\w./-]/;
const hostCharacter = /[\w.:[\]-]/;
const keyCharacter = /[A-Z0-9_]/;
/** Characters after the issue's number in an address: more path, query, anchor. */
const addressTail = /[\w=&?#%/-]/;

export type ClosingOptions = {
  /** The address of this instance, with its relative path if it has one. */
  baseUrl: string;
  /** Full path of the project's namespace. */
  namespace: string;
  /** Full path of the project the text belongs to. */
  project: string;
};

export type ClosingReference = {
  /** Full path of the issue's project, spelled as in the text. */
  project: string;
  iid: number;
};

/**
 * Returns the issues that a text closes: distinct (regardless of the case of paths), in order, at most 100. Ignores
 * addresses of other instances. Does not check that the issues exist.
 */
export const closingReferences = (text: string, options: ClosingOptions): ClosingReference[] => {
  const base = dropScheme(options.baseUrl);
  const references = new Map<string, ClosingReference>();
  for (const { project, iid } of findElements(text, base)) {
    if (references.size >= maxReferences) break;
    if (iid === undefined) continue;
    const path = toFullPath(project, options);
    const key = `${path.toLowerCase()}#${iid}`;
    if (!references.has(key)) references.set(key, { project: path, iid });
  }
  return [...references.values()];
};

/** Returns the issues of another tracker (`ABC-12`) that a text closes: distinct, in order, at most 100. */
export const closingExternalKeys = (text: string): string[] => {
  const keys = new Set<string>();
  for (const { key } of findElements(text, null)) {
    if (keys.size >= maxReferences) break;
    if (key !== undefined) keys.add(key);
  }
  return [...keys];
};

/** A part of a closing phrase: an issue (`project` as written, '' if left out) or an external key. */
type Element = { end: number; project: string; iid?: number; key?: string };

const toFullPath = (written: string, options: ClosingOptions): string => {
  if (written === '') return options.project;
  return written.includes('/') ? written : `${options.namespace}/${written}`;
};

/** Yields the elements of all closing phrases. @param base as `dropScheme` returns it; null accepts any instance */
const findElements = function* findElements(whole: string, base: string | null): Generator<Element> {
  const text = whole.slice(0, maxTextLength);
  let at = 0;
  while (at < text.length) {
    const wordEnd = skip(text, at, wordCharacter);
    const phrase = wordEnd > at ? findPhraseStart(text, at, wordEnd) : -1;
    at = Math.max(wordEnd, at + 1);
    let element = phrase === -1 ? null : readElement(text, phrase, base);
    while (element !== null) {
      yield element;
      at = element.end;
      element = readElement(text, element.key === undefined ? skipSeparator(text, at) : at, base);
    }
  }
};

/** Returns the index of the first element after a closing keyword; -1 if the word is not a keyword. */
const findPhraseStart = (text: string, start: number, end: number): number => {
  if (end - start > longestKeyword) return -1;
  const word = text.charAt(start).toLowerCase() + text.slice(start + 1, end);
  if (!keywords.has(word)) return -1;
  const colon = text[end] === ':' ? end + 1 : end;
  const first = skip(text, colon, spaceCharacter);
  return first > colon ? first : -1;
};

const skipSeparator = (text: string, at: number): number => {
  const comma = skip(text, at, spaceCharacter);
  const next = text[comma] === ',' ? skip(text, comma + 1, spaceCharacter) : comma;
  const joined = text[next - 1] === ' ' && text.startsWith('and ', next);
  return joined ? skip(text, next + 3, spaceCharacter) : next;
};

const readElement = (text: string, at: number, base: string | null): Element | null => {
  const bare = skipIssueWord(text, at);
  const prefixed = bare > at ? readReference(text, bare, base) : null;
  return prefixed ?? readReference(text, at, base) ?? readExternalKey(text, at);
};

/** Returns the index after `issue ` or `issues `, or `at` if neither is there. */
const skipIssueWord = (text: string, at: number): number => {
  if (!text.startsWith('issue', at)) return at;
  const end = text[at + 5] === 's' ? at + 6 : at + 5;
  const next = skip(text, end, spaceCharacter);
  return next > end ? next : at;
};

const readReference = (text: string, at: number, base: string | null): Element | null => {
  if (text.startsWith('http://', at)) return readAddress(text, at + 7, base);
  if (text.startsWith('https://', at)) return readAddress(text, at + 8, base);
  const hash = skip(text, at, pathCharacter);
  const end = skip(text, hash + 1, digitCharacter);
  if (text[hash] !== '#' || wordCharacter.test(text.charAt(end))) return null;
  const project = text.slice(at, hash);
  const iid = parseIid(text.slice(hash + 1, end));
  return iid !== null && (project === '' || isPath(project)) ? { end, project, iid } : null;
};

/** Reads an issue's address from its host on: `<base>/<project>/issues/1` or `<base>/<project>/-/issues/1`. */
const readAddress = (text: string, start: number, base: string | null): Element | null => {
  const pathStart = base === null ? skip(text, start, hostCharacter) : start + base.length;
  if (base !== null && text.slice(start, pathStart).toLowerCase() !== base) return null;
  if (text[pathStart] !== '/') return null;
  let pathEnd = skip(text, pathStart, pathCharacter);
  if (pathEnd - pathStart > maxPathLength) return null;
  while (text[pathEnd - 1] === '.') pathEnd -= 1; // the end of a sentence
  const parts = text.slice(pathStart + 1, pathEnd).split('/');
  const at = parts.findIndex(
    (part, index) => index >= 2 && part === 'issues' && digitCharacter.test(parts[index + 1] ?? ''),
  );
  const iid = parseIid(parts[at + 1] ?? '');
  const project = parts.slice(0, parts[at - 1] === '-' ? at - 1 : at).join('/');
  if (at === -1 || iid === null || !project.includes('/') || !isPath(project)) return null;
  const end = /[?#]/.test(text.charAt(pathEnd)) ? skip(text, pathEnd, addressTail) : pathEnd;
  return { end, project, iid };
};

const readExternalKey = (text: string, at: number): Element | null => {
  const dash = skip(text, at, keyCharacter);
  const end = skip(text, dash + 1, digitCharacter);
  const wellFormed = dash >= at + 2 && text[dash] === '-' && end > dash + 1 && /[A-Z]/.test(text.charAt(at));
  if (!wellFormed || end - at > maxPathLength || wordCharacter.test(text.charAt(end))) return null;
  return { end, project: '', key: text.slice(at, end) };
};

const isPath = (text: string): boolean => {
  if (text.length > maxPathLength) return false;
  return text.split('/').every((part) => part !== '' && !part.startsWith('-') && !part.endsWith('.'));
};

/** Parses an iid; null for 0, for too many digits, and for other characters. */
const parseIid = (text: string): number | null => {
  if (text.length > maxNumberLength) return null;
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number > 0 ? number : null;
};

/** Turns 'https://Host/git/' into 'host/git'. */
const dropScheme = (url: string): string => {
  const address = url.slice(url.indexOf('://') + 3).toLowerCase();
  return address.endsWith('/') ? address.slice(0, -1) : address;
};

/** Returns the end of the run of these characters that starts at `at`. */
const skip = (text: string, at: number, characters: RegExp): number => {
  let end = at;
  while (end < text.length && characters.test(text.charAt(end))) end += 1;
  return end;
};
