/** Finds the issues and merge requests that a text references outside code. Takes linear time. */
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import { withoutCode } from './code_blocks.ts';

/** Limit of references in one text; more are ignored. */
const maxReferences = 50;
const maxPathLength = 1024;

/**
 * An address, or `#3`, `group/project!4` that is not part of a longer word, path, entity or link target. A run of path
 * characters is entered only at its start, so nothing is tried twice.
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
  /** The address of this instance; '' if it has none. */
  baseUrl: string;
  /** Full path of the project that the text belongs to. */
  project: string;
};

const parseTargetType = (sign: string): TargetType =>
  sign === '#' || sign === 'issues' ? 'Issue' : 'MergeRequest';

const ofAddress = (address: string, baseUrl: string): Reference | null => {
  const base = baseUrl.toLowerCase().replace(/\/$/, '');
  if (base === '' || !address.toLowerCase().startsWith(base)) return null;
  const below = address.slice(base.length, base.length + 2 * maxPathLength);
  const { path, word, digits } = afterBase.exec(below)?.groups ?? {};
  if (path === undefined || word === undefined) return null;
  return { type: parseTargetType(word), project: path.toLowerCase(), iid: Number(digits) };
};

/** Resolves a path of one part to a project of the same namespace. */
const fullPath = (path: string, project: string): string => {
  if (path === '') return project;
  return path.includes('/') ? path : `${project.slice(0, project.lastIndexOf('/'))}/${path}`;
};

/** Quick check whether a text may contain a reference. */
export const mayReferTo = (text: string): boolean => /[#!]\d|\/(?:issues|merge_requests)\/\d/.test(text);

/** Lists the references of a text: distinct, in order, at most 50. The records may not exist. */
export const referencesIn = (text: string, { baseUrl, project }: ReferenceOptions): Reference[] => {
  const references = new Map<string, Reference>();
  if (!mayReferTo(text)) return [];
  for (const { groups = {} } of withoutCode(text).matchAll(writtenReference)) {
    if (references.size >= maxReferences) break;
    const { address, path = '', mark = '', digits } = groups;
    if (path.length > maxPathLength) continue;
    const reference: Reference | null =
      address === undefined
        ? { type: parseTargetType(mark), project: fullPath(path, project).toLowerCase(), iid: Number(digits) }
        : ofAddress(address, baseUrl);
    if (reference !== null)
      references.set(`${reference.type} ${reference.project} ${reference.iid}`, reference);
  }
  return [...references.values()];
};
