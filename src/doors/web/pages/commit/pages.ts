/** The page of a commit, and the commit as a diff or patch. */
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { readPatch, readRawDiff } from '../../../../code/repository/commits/commit_patch.ts';
import { requireCommit } from '../../../../code/repository/refs/resolve.ts';
import { boolean, object, optional, text } from '../../../../platform/http/schema.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { diffParams, readDiffChoice } from '../../parts/diff/diff_choice.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { RawPage, type Visit, page } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitView } from './commit_view.ts';
import { editCommentPages } from './edit_comment_pages.ts';
import { formPages } from './form_pages.ts';

/** Serves text that browsers do not interpret. */
const serveText = (content: Buffer): RawPage =>
  new RawPage(content, {
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; sandbox",
  });

const rawCommit = async (
  visit: Visit,
  { project: fullPath, id }: { project: string; id: string },
  format: 'diff' | 'patch',
): Promise<RawPage> => {
  const project = await findProjectFor(visit.call, fullPath, 'read_code');
  const code = openCachedCode(visit.call, project);
  const commit = await requireCommit(code, id);
  const read = format === 'diff' ? readRawDiff : readPatch;
  return serveText(await withAnonymousSlot(visit, async () => await read(code, commit)));
};

const rawPattern = /^(.+)\.(diff|patch)$/;

export const pages = [
  page({
    method: 'GET',
    path: `${projectRoot}/commit/:id`,
    audience: 'visitor',
    params: object({
      ...projectPath,
      id: text({ maxLength: 1_000, description: 'commit, with `.diff` or `.patch` behind it for that form' }),
      ...diffParams,
      comment: optional(text({ maxLength: 100, description: 'line with the form for a comment' })),
      refs: optional(boolean({ description: 'show the branches and tags that contain it' })),
    }),
    handle: async (visit, { project, id: sent, refs = false, comment, ...shown }) => {
      const [, id, format] = rawPattern.exec(sent) ?? [];
      if (id !== undefined && format !== undefined) {
        return await rawCommit(visit, { project, id }, format === 'diff' ? 'diff' : 'patch');
      }
      return await commitView(
        visit,
        { project, id: sent },
        { ...readDiffChoice(visit, shown), hasRefs: refs, comment },
      );
    },
  }),
  ...formPages,
  ...editCommentPages,
];
