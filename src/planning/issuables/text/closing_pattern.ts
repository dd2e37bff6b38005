/**
 * Finds the issues a text says it closes. The form it reads:
 *
 *     \b (keyword) :? ␣+ ( (issues? ␣+)? reference separator? | EXTERNAL-KEY )+
 *     separator = ␣* ,? ␣+ and ␣+  |  ␣* ,? ␣*
 *
 * where a keyword is a form of close, fix, resolve or implement, all lower-case but for its first letter,
 * and ␣ is a space, not a line end. A reference is `#1`, `project#1` of the same namespace,
 * `group/sub/project#1` or the address of an issue. Hand-written so that it takes linear time: each
 * character is passed a bounded number of times.
 */

const MAX_REFERENCES = 100;
/** UTF-16 code units; what stands behind them is not read. */
const MAX_TEXT_LENGTH = 2 ** 20;
const MAX_PATH_LENGTH = 1024;
const MAX_NUMBER_LENGTH = 15;

const KEYWORDS = new Set(
  [
    'close closes closed closing',
    'fix fixes fixed fixing',
    'resolve resolves resolved resolving',
    'implement implements implemented implementing',
  ].flatMap((forms) => forms.split(' ')),
);
const LONGEST_KEYWORD = 12;

const SPACE = /[ ]/;
const DIGIT = /\d/;
const WORD = /\w/;
const PATH = /[\w./-]/;
const HOST = /[\w.:[\]-]/;
const KEY = /[A-Z0-9_]/;
/** What may follow an issue's number in an address: more path, query, anchor. */
const ADDRESS_TAIL = /[\w=&?#%/-]/;

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
 * The issues the text closes: each once (paths are compared without case), in order, at most 100. An
 * address counts only if it is of this instance. Whether the issues exist is for the caller to find out.
 */
export function closingReferences(text: string, options: ClosingOptions): ClosingReference[] {
  const base = withoutScheme(options.baseUrl);
  const references = new Map<string, ClosingReference>();
  for (const { project, iid } of elements(text, base)) {
    if (references.size >= MAX_REFERENCES) break;
    if (iid === undefined) continue;
    const path = fullPath(project, options);
    const key = `${path.toLowerCase()}#${iid}`;
    if (!references.has(key)) references.set(key, { project: path, iid });
  }
  return [...references.values()];
}

/** The issues of another tracker (`ABC-12`) that the text closes: each once, in order, at most 100. */
export function closingExternalKeys(text: string): string[] {
  const keys = new Set<string>();
  for (const { key } of elements(text, null)) {
    if (keys.size >= MAX_REFERENCES) break;
    if (key !== undefined) keys.add(key);
  }
  return [...keys];
}

/** A part of a closing phrase: an issue (`project` as written, '' if left out) or an external key. */
type Element = { end: number; project: string; iid?: number; key?: string };

function fullPath(written: string, options: ClosingOptions): string {
  if (written === '') return options.project;
  return written.includes('/') ? written : `${options.namespace}/${written}`;
}

/** Every element of every closing phrase. `base` as of `withoutScheme`, or null for any instance's. */
function* elements(whole: string, base: string | null): Generator<Element> {
  const text = whole.slice(0, MAX_TEXT_LENGTH);
  let at = 0;
  while (at < text.length) {
    const wordEnd = skip(text, at, WORD);
    const phrase = wordEnd > at ? phraseStart(text, at, wordEnd) : -1;
    at = Math.max(wordEnd, at + 1);
    let element = phrase === -1 ? null : elementAt(text, phrase, base);
    while (element !== null) {
      yield element;
      at = element.end;
      element = elementAt(text, element.key === undefined ? skipSeparator(text, at) : at, base);
    }
  }
}

/** Where the first element after a closing keyword has to stand; -1 if the word is none. */
function phraseStart(text: string, start: number, end: number): number {
  if (end - start > LONGEST_KEYWORD) return -1;
  const word = text.charAt(start).toLowerCase() + text.slice(start + 1, end);
  if (!KEYWORDS.has(word)) return -1;
  const colon = text[end] === ':' ? end + 1 : end;
  const first = skip(text, colon, SPACE);
  return first > colon ? first : -1;
}

function skipSeparator(text: string, at: number): number {
  const comma = skip(text, at, SPACE);
  const next = text[comma] === ',' ? skip(text, comma + 1, SPACE) : comma;
  const joined = text[next - 1] === ' ' && text.startsWith('and ', next);
  return joined ? skip(text, next + 3, SPACE) : next;
}

function elementAt(text: string, at: number, base: string | null): Element | null {
  const bare = skipIssueWord(text, at);
  const prefixed = bare > at ? referenceAt(text, bare, base) : null;
  return prefixed ?? referenceAt(text, at, base) ?? externalKeyAt(text, at);
}

/** Past `issue ` or `issues `; `at` itself if neither stands there. */
function skipIssueWord(text: string, at: number): number {
  if (!text.startsWith('issue', at)) return at;
  const end = text[at + 5] === 's' ? at + 6 : at + 5;
  const next = skip(text, end, SPACE);
  return next > end ? next : at;
}

function referenceAt(text: string, at: number, base: string | null): Element | null {
  if (text.startsWith('http://', at)) return addressAt(text, at + 7, base);
  if (text.startsWith('https://', at)) return addressAt(text, at + 8, base);
  const hash = skip(text, at, PATH);
  const end = skip(text, hash + 1, DIGIT);
  if (text[hash] !== '#' || WORD.test(text.charAt(end))) return null;
  const project = text.slice(at, hash);
  const iid = issueNumber(text.slice(hash + 1, end));
  return iid !== null && (project === '' || isPath(project)) ? { end, project, iid } : null;
}

/** The address of an issue, `<base>/<project>/issues/1` or `<base>/<project>/-/issues/1`, from its host on. */
function addressAt(text: string, start: number, base: string | null): Element | null {
  const pathStart = base === null ? skip(text, start, HOST) : start + base.length;
  if (base !== null && text.slice(start, pathStart).toLowerCase() !== base) return null;
  if (text[pathStart] !== '/') return null;
  let pathEnd = skip(text, pathStart, PATH);
  if (pathEnd - pathStart > MAX_PATH_LENGTH) return null;
  while (text[pathEnd - 1] === '.') pathEnd--; // the end of a sentence
  const parts = text.slice(pathStart + 1, pathEnd).split('/');
  const at = parts.findIndex(
    (part, index) => index >= 2 && part === 'issues' && DIGIT.test(parts[index + 1] ?? ''),
  );
  const iid = issueNumber(parts[at + 1] ?? '');
  const project = parts.slice(0, parts[at - 1] === '-' ? at - 1 : at).join('/');
  if (at === -1 || iid === null || !project.includes('/') || !isPath(project)) return null;
  const end = /[?#]/.test(text.charAt(pathEnd)) ? skip(text, pathEnd, ADDRESS_TAIL) : pathEnd;
  return { end, project, iid };
}

function externalKeyAt(text: string, at: number): Element | null {
  const dash = skip(text, at, KEY);
  const end = skip(text, dash + 1, DIGIT);
  const wellFormed = dash >= at + 2 && text[dash] === '-' && end > dash + 1 && /[A-Z]/.test(text.charAt(at));
  if (!wellFormed || end - at > MAX_PATH_LENGTH || WORD.test(text.charAt(end))) return null;
  return { end, project: '', key: text.slice(at, end) };
}

function isPath(text: string): boolean {
  if (text.length > MAX_PATH_LENGTH) return false;
  return text.split('/').every((part) => part !== '' && !part.startsWith('-') && !part.endsWith('.'));
}

/** Digits -> an iid; null for 0, for more digits than an id has, and for other characters. */
function issueNumber(text: string): number | null {
  if (text.length > MAX_NUMBER_LENGTH) return null;
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number > 0 ? number : null;
}

/** 'https://Host/git/' -> 'host/git'. */
function withoutScheme(url: string): string {
  const rest = url.slice(url.indexOf('://') + 3).toLowerCase();
  return rest.endsWith('/') ? rest.slice(0, -1) : rest;
}

/** The end of the run of such characters that starts at `at`. */
function skip(text: string, at: number, characters: RegExp): number {
  let end = at;
  while (end < text.length && characters.test(text.charAt(end))) end++;
  return end;
}
