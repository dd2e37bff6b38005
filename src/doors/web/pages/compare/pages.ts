/** Compares two branches, tags or commits. */
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { boolean, id, object, optional, text } from '../../../../platform/http/schema.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { decodePath } from '../../parts/code/code_path.ts';
import { diffParams, readDiffChoice } from '../../parts/diff/diff_choice.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { comparePath, parseComparison } from './comparison_address.ts';
import { commitsPerPage, comparisonView } from './comparison_view.ts';
import { findSides, formView, isAcross } from './comparison_form.ts';

const routePath = `${projectRoot}/compare`;

const fromProject = { from_project_id: optional(id('project of `from`: another one of the fork network')) };

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
      ...fromProject,
      straight: optional(boolean({ description: 'without a common ancestor' })),
    }),
    handle: async (visit, { project: fullPath, from = '', to = '', straight = false, from_project_id }) => {
      const project = await findProjectFor(visit.call, fullPath, 'read_code');
      const sides = await findSides(visit, openCachedCode(visit.call, project), from_project_id);
      const fromProjectId = isAcross(sides) ? from_project_id : undefined;
      if (from !== '' && to !== '') {
        return redirect(comparePath(project, { from, to, isStraight: straight, fromProjectId }));
      }
      return await formView(visit, sides, { from: from || sides.other.project.default_branch, to });
    },
  }),
  page({
    method: 'GET',
    path: `${routePath}/:rest`,
    audience: 'visitor',
    params: object({
      ...projectPath,
      rest: text({ maxLength: 16_000, description: 'both ends, with three dots between them' }),
      ...fromProject,
      ...diffParams,
      page: pageParams.page,
    }),
    handle: async (visit, { project: fullPath, rest, from_project_id, page: number, ...shown }) => {
      const project = await findProjectFor(visit.call, fullPath, 'read_code');
      const sides = await findSides(visit, openCachedCode(visit.call, project), from_project_id);
      const sent = decodePath(rest);
      const comparison = parseComparison(sent);
      if (comparison === null) return await formView(visit, sides, { from: sent, to: '' });
      const fromProjectId = isAcross(sides) ? from_project_id : undefined;
      return await comparisonView(
        visit,
        sides,
        { ...comparison, fromProjectId },
        {
          choice: readDiffChoice(visit, shown),
          page: pageRequest({ page: number, per_page: commitsPerPage }),
        },
      );
    },
  }),
];
