/** Finds the branch and path that a form edits, and checks the right to push. */
import { type Code, openCode } from '../../../../code/repository/find_code.ts';
import { may } from '../../../../core/access/may.ts';
import { forbidden } from '../../../../platform/errors.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type View, type Visit, page } from '../../page.ts';
import { findLocationToChange } from '../../parts/code/code_location.ts';
import { decodePath } from '../../parts/code/code_path.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { canProposeBranches } from '../merge_requests/new_request_links.ts';
import { trimSlashes } from '../../../../platform/trim.ts';

export type EditTarget = {
  project: Project;
  code: Code;
  ref: string;
  kind: 'branch' | 'tag' | 'commit';
  /** null: the repository is empty. */
  commit: Oid | null;
  /** Without slashes at its ends; empty: the root. */
  path: string;
  /** The user may open a merge request for a branch of the project. */
  canPropose: boolean;
};

export const editParams = { ...projectPath, rest: text({ maxLength: 16_000 }) };

/**
 * Finds the branch and path. In an empty repository, the first segment is the branch to create.
 * @throws Failure 404, 403
 */
export const findEditTarget = async (
  visit: Visit,
  params: { project: string; rest: string },
): Promise<EditTarget> => {
  const project = await findProjectFor(visit.call, params.project, 'read_code');
  const canPropose = await canProposeBranches(visit, project);
  if (project.default_branch !== null) return { ...(await findLocationToChange(visit, params)), canPropose };
  const [ref = '', ...segments] = decodePath(params.rest).split('/');
  const path = segments.filter((segment) => segment !== '').join('/');
  return {
    project,
    code: openCode(visit.call, project),
    ref,
    kind: 'branch',
    commit: null,
    path,
    canPropose,
  };
};

const mayEdit = ({ call }: Visit, { project }: EditTarget): boolean => may(call.viewer, 'push_code', project);

/** @throws Failure 403 */
export const requireEditor = (visit: Visit, target: EditTarget): void => {
  if (!mayEdit(visit, target)) throw forbidden();
};

/** Renders the offer to fork, for users who may read but not push. */
const refusedView = (visit: Visit, { project }: EditTarget): View => {
  const fork = html`<a class="button primary" href="${projectPagePath(project, 'forks/new')}">${icon('fork')} Fork the project</a>`;
  const content = html`<section class="card">${emptyState({
    icon: 'lock',
    title: 'You may not push to this project',
    text: 'Fork it, change the files of your fork, and propose the change from there.',
    action: may(visit.call.viewer, 'fork_project', project) && fork,
  })}</section>`;
  return { ...projectView(visit, { project, title: 'Edit files', noun: 'edit' }, content), status: 403 };
};

/** Declares the page with the form of a change. Users who may read, but not push, see how to fork instead. */
export const formPage = (path: string, view: (visit: Visit, target: EditTarget) => Promise<View>) =>
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object(editParams),
    handle: async (visit, params) => {
      const target = await findEditTarget(visit, params);
      return mayEdit(visit, target) ? await view(visit, target) : refusedView(visit, target);
    },
  });

/** Checks whether a commit to this branch creates it. */
export const createsBranch = ({ ref, kind, commit }: EditTarget, branch: string): boolean =>
  commit !== null && !(kind === 'branch' && branch === ref);

export const isCommitId = (id: string): boolean => /^[0-9a-f]{40}$/.test(id);

/** Returns the path of a folder without white space and slashes at its ends. */
export const cleanFolder = (text: string): string => trimSlashes(text.trim());
