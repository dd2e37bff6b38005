/** Finds what may be references in plain text. Takes linear time. */
import { escapeHtml } from '../../../platform/escape_html.ts';
import type { Part, Reference, ReferenceKind } from './options.ts';
import { trimEnd } from '../../../platform/trim.ts';

const longestPath = 1_024;
const longestName = 255;

/**
 * `#1`, `!2`, `$3`, `~label`, `~"two words"`, `%milestone`, `@user` or `@group/subgroup`, a commit id, each except a
 * user or group optionally after the path of a project. A run of path characters is entered only at its start, so nothing is tried twice.
 */
const pattern =
  /(?<![\p{L}\p{N}_/&.#!$~%@-])(?:(?<sha>[0-9a-f]{7,40})(?![\p{L}\p{N}_@/#!$~%-])|(?<path>(?:\w[\w./-]*(?<!\/))?)(?:(?<mark>[#!$])(?<digits>[1-9]\d{0,14})(?![\p{L}\p{N}_])|@(?:(?<at>[0-9a-f]{7,40})(?![\w-])|(?<user>\w[\w.-]*))(?<below>(?:(?<!\.)\/\w[\w.-]*)*)|(?<sign>[~%])(?:"(?<quoted>[^"\n]{1,255})"|(?<word>[\p{L}\p{N}_][\p{L}\p{N}_\-?.&:]*))))/gu;

const kinds: Record<string, ReferenceKind> = {
  '#': 'Issue',
  '!': 'MergeRequest',
  $: 'Snippet',
  '~': 'Label',
  '%': 'Milestone',
};

type Match = { reference: Reference; length: number };

/** Cuts off punctuation that ends a sentence rather than a name. */
const trimName = (name: string): string => trimEnd(name, '.?:&-');

const readMatch = (whole: string, groups: Record<string, string | undefined>): Match | null => {
  const { sha, path = '', mark, digits, at, user, below = '', sign, quoted, word } = groups;
  const make = (kind: ReferenceKind, name: string, length = whole.length, isQuoted = false): Match => ({
    reference: {
      kind,
      project: path,
      name,
      isQuoted,
      shorten: null,
      plain: escapeHtml(whole.slice(0, length)),
    },
    length,
  });
  if (path.length > longestPath) return null;
  if (sha !== undefined) return make('Commit', sha);
  if (mark !== undefined && digits !== undefined) return make(kinds[mark] ?? 'Issue', digits);
  if (at !== undefined && path !== '') return make('Commit', at, whole.length - below.length);
  if (sign !== undefined && quoted !== undefined)
    return make(kinds[sign] ?? 'Label', quoted, undefined, true);
  if (sign !== undefined) {
    const name = trimName(word ?? '');
    return name.length > longestName
      ? null
      : make(kinds[sign] ?? 'Label', name, path.length + 1 + name.length);
  }
  const name = trimEnd(`${at ?? user ?? ''}${below}`, '.');
  return path !== '' || name === '' || name.length > longestName ? null : make('User', name, 1 + name.length);
};

/** Splits text into escaped HTML and possible references. */
export const findReferences = (text: string): Part[] => {
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: whole, index, groups = {} } of text.matchAll(pattern)) {
    const match = readMatch(whole, groups);
    if (match === null) continue;
    parts.push(escapeHtml(text.slice(from, index)), match.reference);
    from = index + match.length;
  }
  parts.push(escapeHtml(text.slice(from)));
  return parts;
};

const address =
  /^\/(?<path>[\w./-]+?)\/(?:-\/)?(?:(?<noun>issues|merge_requests|snippets|milestones)\/(?<digits>[1-9]\d{0,14})|commit\/(?<sha>[0-9a-f]{7,40}))(?:#(?<anchor>[\w-]{1,100}))?$/;

const nouns: Record<string, ReferenceKind> = {
  issues: 'Issue',
  merge_requests: 'MergeRequest',
  snippets: 'Snippet',
  milestones: 'Milestone',
};

/**
 * Parses the URL of a record of this instance.
 * @param plain HTML for viewers who cannot see the target
 */
export const readAddress = (url: string, baseUrl: string, plain: string): Reference | null => {
  if (baseUrl === '' || url.length > 2 * longestPath || !url.startsWith(`${baseUrl}/`)) return null;
  const { path, noun, digits, sha, anchor = '' } = address.exec(url.slice(baseUrl.length))?.groups ?? {};
  if (path === undefined) return null;
  const kind = noun === undefined ? 'Commit' : (nouns[noun] ?? 'Issue');
  return { kind, project: path, name: digits ?? sha ?? '', isQuoted: false, shorten: { anchor }, plain };
};
