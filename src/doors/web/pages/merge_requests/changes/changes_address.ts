/** Parses and builds addresses of the Changes tab. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { boolean, id, integer, optional, text } from '../../../../../platform/http/schema.ts';
import { fileParams, viewParams } from '../../../parts/diff/diff_choice.ts';
import type { DiffView } from '../../../request/preferences.ts';
import { requestPath } from '../paths.ts';

/** Which diffs are shown, and how. Forms keep these. */
export const choiceParams = {
  ...viewParams,
  diff_id: optional(id('version to show; absent: the latest')),
  start_sha: optional(text({ maxLength: 64, description: 'head of the version to compare with' })),
  commit_id: optional(text({ maxLength: 64, description: 'show only what this commit changed' })),
};

export const changesParams = {
  ...choiceParams,
  page: optional(integer({ minimum: 1, maximum: 100_000, description: 'part of a long list of files' })),
  ...fileParams,
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
    // The view is written even if it is the usual one: it may differ from what the visitor prefers.
    const isDefault =
      value === undefined || (value === false && name !== 'w') || (name === 'page' && value === 1);
    if (!isDefault) params.set(name, typeof value === 'boolean' ? String(Number(value)) : String(value));
  }
  return params.toString();
};

type Where = Pick<LoadedMergeRequest, 'project' | 'target'>;

/** Returns the address of the tab. @param below path of a form, such as `/comments` */
export const changesPath = (loaded: Where, query: ChangesQuery = {}, below = ''): string => {
  const sent = written(query);
  return `${requestPath(loaded, '/diffs')}${below}${sent === '' ? '' : `?${sent}`}`;
};
