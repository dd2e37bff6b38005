/** Marks files as viewed. */
import { notFound } from '../../../../../../platform/errors.ts';
import { boolean, object, optional, text } from '../../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../../review/merge_requests/find.ts';
import { markViewed } from '../../../../../../review/merge_requests/viewed/viewed_files.ts';
import { page, redirect } from '../../../../page.ts';
import { diffFileId } from '../../../../parts/diff/file_card.ts';
import { oneRequest } from '../../paths.ts';
import { partOf, splitFiles } from '../file_pages.ts';
import { loadChanges } from '../load_changes.ts';
import { changesPath, choiceOf, choiceParams } from '../changes_address.ts';
import { routePath } from './comment_pages.ts';

export const viewedPages = [
  page({
    method: 'POST',
    path: `${routePath}/viewed`,
    audience: 'user',
    params: object({
      ...oneRequest,
      ...choiceParams,
      path: optional(text({ maxLength: 4_096 })),
      viewed: optional(boolean()),
    }),
    handle: async (visit, { project, iid, path = '', viewed = true, ...query }) => {
      const loaded = await findMergeRequest(visit.call, project, iid);
      const { files } = await loadChanges(visit, loaded, choiceOf(query));
      const file = files.find(({ new_path }) => new_path === path);
      if (file === undefined) throw notFound('File');
      await markViewed(visit.call, loaded, file, viewed);
      const page = partOf(splitFiles(files), path);
      return redirect(`${changesPath(loaded, { ...choiceOf(query), page })}#${diffFileId(file)}`);
    },
  }),
];
