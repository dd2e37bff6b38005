/** The issues and merge requests that a text names, wherever it is not code. Takes linear time. */
import type { TargetType } from '../db/schema.ts';
import { withoutCode } from './code_pieces.ts';

/** More of one text are not looked up. */
const mostReferences = 50;
const longestPath = 1024;

/**
 * An address, or `#3`, `group/project!4` that is no part of a longer word, path, entity or link's target. A run of a
 * path's characters is entered at its beginning alone, so nothing is tried twice.
 */
export const writtenReference =
  /(?<address>https?:\/\/[^\s<>()[\]"']*)|(?<![\p{L}\p{N}_/&.#!-]|\]\()(?<path>(?:\w[\w./-]*(?<!\/))?)(?<mark>[#!])(?<digits>[1-9]\d{0,14})(?![\p{L}\p{N}_])/gu;
const afterBase =
  /^\/(?<path>[\w./-]+?)\/(?:-\/)?(?<word>issues|merge_requests)\/(?<digits>[1-9]\d{0,14})(?!\d)/;

export type Reference = {
  type: TargetType;
  /** Full path of its project, in lower case. */
  project: string;
  iid: number;
};

export type ReferenceOptions = {
  /** The address of this instance; '' where it has none. */
  baseUrl: string;
  /** Full path of the project that the text belongs to. */
  project: string;
};

const typeOf = (sign: string): TargetType => (sign === '#' || sign === 'issues' ? 'Issue' : 'MergeRequest');

const ofAddress = (address: string, baseUrl: string): Reference | null => {
  const base = baseUrl.toLowerCase().replace(/\/$/, '');
  if (base === '' || !address.toLowerCase().startsWith(base)) return null;
  const rest = address.slice(base.length, base.length + 2 * longestPath);
  const { path, word, digits } = afterBase.exec(rest)?.groups ?? {};
  if (path === undefined || word === undefined) return null;
  return { type: typeOf(word), project: path.toLowerCase(), iid: Number(digits) };
};

/** A path of one part is of a project beside this one. */
const fullPath = (path: string, project: string): string => {
  if (path === '') return project;
  return path.includes('/') ? path : `${project.slice(0, project.lastIndexOf('/'))}/${path}`;
};

/** Quick: whether a text may name something at all. */
export const mayReferTo = (text: string): boolean => /[#!]\d|\/(?:issues|merge_requests)\/\d/.test(text);

/** Each once, in order, at most 50. Whether there are such is for the caller to find out. */
export const referencesIn = (text: string, { baseUrl, project }: ReferenceOptions): Reference[] => {
  const found = new Map<string, Reference>();
  if (!mayReferTo(text)) return [];
  for (const { groups = {} } of withoutCode(text).matchAll(writtenReference)) {
    if (found.size >= mostReferences) break;
    const { address, path = '', mark = '', digits } = groups;
    if (path.length > longestPath) continue;
    const one: Reference | null =
      address === undefined
        ? { type: typeOf(mark), project: fullPath(path, project).toLowerCase(), iid: Number(digits) }
        : ofAddress(address, baseUrl);
    if (one !== null) found.set(`${one.type} ${one.project} ${one.iid}`, one);
  }
  return [...found.values()];
};
