/** Forms that move, clone or delete an issue. */
import { may } from '../../../../../core/access/may.ts';
import { deleteIssue } from '../../../../../planning/issues/delete.ts';
import { type LoadedIssue, findIssue } from '../../../../../planning/issues/find.ts';
import { cloneIssue } from '../../../../../planning/issues/move/clone.ts';
import { moveIssue } from '../../../../../planning/issues/move/move.ts';
import { Failure, forbidden, invalid } from '../../../../../platform/errors.ts';
import { boolean, object, optional, text } from '../../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../../projects/projects/find.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { issuePath, issuesPath, oneIssue, issuesRoutePath } from '../paths.ts';
import { issueView } from '../show/issue_view.ts';
import { issueKind } from '../issue_kind.ts';
import { trimSlashes } from '../../../../../platform/trim.ts';

/** Loads the project that a form names. A hidden one is as a missing one. */
const findTarget = async ({ call }: Visit, path: string): Promise<Project> => {
  try {
    return await findProject(call, trimSlashes(path.trim()));
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found')
      throw invalid({ project: ['does not exist'] });
    throw error;
  }
};

const move = page({
  method: 'POST',
  path: `${issuesRoutePath}/:iid/move`,
  audience: 'user',
  params: object({ ...oneIssue, to_project: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { project, iid, to_project = '' }) => {
    const { call } = visit;
    const loaded = await findIssue(call, project, iid);
    if (!may(call.viewer, 'move_issue', loaded.project)) throw forbidden();
    let moved: LoadedIssue = loaded;
    const operation = async (): Promise<void> => {
      moved = await moveIssue(call, loaded, (await findTarget(visit, to_project)).id);
    };
    return await submitForm({ kind: issueKind, visit, loaded }, operation, {
      next: () => issuePath(moved),
      notice: 'The issue was moved.',
    });
  },
});

const clone = page({
  method: 'POST',
  path: `${issuesRoutePath}/:iid/clone`,
  audience: 'user',
  params: object({
    ...oneIssue,
    to_project: optional(text({ maxLength: 1_000 })),
    with_notes: boolean({ default: false }),
  }),
  handle: async (visit, { project, iid, to_project = '', with_notes }) => {
    const { call } = visit;
    const loaded = await findIssue(call, project, iid);
    if (!may(call.viewer, 'move_issue', loaded.project)) throw forbidden();
    let made: LoadedIssue = loaded;
    const operation = async (): Promise<void> => {
      const { id: to_project_id } = await findTarget(visit, to_project);
      made = await cloneIssue(call, loaded, { to_project_id, with_notes });
    };
    return await submitForm({ kind: issueKind, visit, loaded }, operation, {
      next: () => issuePath(made),
      notice: 'The issue was cloned.',
    });
  },
});

const remove = page({
  method: 'POST',
  path: `${issuesRoutePath}/:iid/delete`,
  audience: 'user',
  params: object({ ...oneIssue, confirmed: optional(boolean()) }),
  handle: async (visit, { project, iid, confirmed = false }) => {
    const { call } = visit;
    const loaded = await findIssue(call, project, iid);
    if (!may(call.viewer, 'destroy_issue', loaded.project)) throw forbidden();
    if (!confirmed)
      return await issueView(visit, loaded, { alert: 'Confirm that the issue is to be deleted.' });
    await deleteIssue(call, loaded);
    return redirect(issuesPath(loaded.project), `Issue #${iid} was deleted.`);
  },
});

export const moveDeletePages = [move, clone, remove];
