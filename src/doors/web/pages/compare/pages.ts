/** Compares two branches, tags or commits. */
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { boolean, object, optional, text } from '../../../../platform/http/schema.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { decodePath } from '../../parts/code/code_path.ts';
import { diffParams, readDiffChoice } from '../../parts/diff/diff_choice.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { comparePath, parseComparison } from './comparison_address.ts';
import { comparisonView, formView } from './comparison_view.ts';

const routePath = `${projectRoot}/compare`;

const refParam = optional(text({ maxLength: 1_000, description: 'branch, tag or commit' }));

export const pages = [
  page({
    method: 'GET',
    path: routePath,
    audience: 'visitor',
    params: object({
      ...projectPath,
      from: refParam,
      to: refParam,
      straight: optional(boolean({ description: 'without a common ancestor' })),
    }),
    handle: async (visit, { project: fullPath, from = '', to = '', straight = false }) => {
      const project = await findProjectFor(visit.call, fullPath, 'read_code');
      if (from !== '' && to !== '') return redirect(comparePath(project, { from, to, isStraight: straight }));
      return await formView(visit, openCachedCode(visit.call, project), {
        from: from || project.default_branch,
        to,
      });
    },
  }),
  page({
    method: 'GET',
    path: `${routePath}/:rest`,
    audience: 'visitor',
    params: object({
      ...projectPath,
      rest: text({ maxLength: 16_000, description: 'both ends, with three dots between them' }),
      ...diffParams,
    }),
    handle: async (visit, { project: fullPath, rest, ...shown }) => {
      const project = await findProjectFor(visit.call, fullPath, 'read_code');
      const code = openCachedCode(visit.call, project);
      const sent = decodePath(rest);
      const comparison = parseComparison(sent);
      if (comparison === null) return await formView(visit, code, { from: sent, to: '' });
      return await comparisonView(visit, code, comparison, readDiffChoice(visit, shown));
    },
  }),
];
