/** Parses and builds addresses of the Changes tab. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { boolean, id, integer, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { maxRangesLength } from '../../../parts/diff/line_ranges.ts';
import type { DiffView } from '../../../parts/diff/file_card.ts';
import { requestPath } from '../paths.ts';

/** Which diffs are shown, and how. Forms keep these. */
export const choiceParams = {
  view: optional(oneOf(['unified', 'split'])),
  w: optional(boolean({ description: 'hide changes of white space only' })),
  diff_id: optional(id('version to show; absent: the latest')),
  start_sha: optional(text({ maxLength: 64, description: 'head of the version to compare with' })),
  commit_id: optional(text({ maxLength: 64, description: 'show only what this commit changed' })),
};

export const changesParams = {
  ...choiceParams,
  page: optional(integer({ minimum: 1, maximum: 100_000, description: 'part of a long list of files' })),
  file: optional(text({ maxLength: 4_096, description: 'new path of the only file to show' })),
  expand: optional(text({ maxLength: maxRangesLength, description: 'further lines to show: `10-29,50-69`' })),
  whole: optional(boolean({ description: 'show the whole file, with the lines that did not change' })),
  comment: optional(text({ maxLength: 100, description: 'line or file with the form for a comment' })),
  from: optional(integer({ minimum: 1, maximum: 9_999_999, description: 'first line of the comment' })),
  suggest: optional(boolean({ description: 'put the lines into the form, as a suggestion' })),
};

export type ChangesQuery = {
  view?: DiffView | undefined;
  w?: boolean | undefined;
  diff_id?: number | undefined;
  start_sha?: string | undefined;
  commit_id?: string | undefined;
  page?: number | undefined;
  file?: string | undefined;
  expand?: string | undefined;
  whole?: boolean | undefined;
  comment?: string | undefined;
  from?: number | undefined;
  suggest?: boolean | undefined;
};

/** Keeps which diffs are shown, without the place on the page. */
export const choiceOf = ({ view, w, diff_id, start_sha, commit_id }: ChangesQuery): ChangesQuery => ({
  view,
  w,
  diff_id,
  start_sha,
  commit_id,
});

const written = (query: ChangesQuery): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const isDefault =
      value === undefined || value === false || value === 'unified' || (name === 'page' && value === 1);
    if (!isDefault) params.set(name, value === true ? '1' : String(value));
  }
  return params.toString();
};

/** Returns the address of the tab. @param below path of a form, such as `/comments` */
export const changesPath = (
  loaded: Pick<LoadedMergeRequest, 'project' | 'target'>,
  query: ChangesQuery = {},
  below = '',
): string => {
  const sent = written(query);
  return `${requestPath(loaded, '/diffs')}${below}${sent === '' ? '' : `?${sent}`}`;
};
