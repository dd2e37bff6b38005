/** Finds the branch and path that a form edits, and checks the right to push. */
import { type Code, openCode } from '../../../../code/repository/find_code.ts';
import { may } from '../../../../core/access/may.ts';
import { forbidden, isNotFound } from '../../../../platform/errors.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import { boolean, object, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type View, type Visit, page } from '../../page.ts';
import { findLocationToChange } from '../../parts/code/code_location.ts';
import { codePath, decodePath } from '../../parts/code/code_path.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { findUsualTarget } from '../merge_requests/new_request_links.ts';
import { trimSlashes } from '../../../../platform/trim.ts';
import { missingInForkView, offerForksView } from './offer_forks.ts';

export type EditTarget = {
  project: Project;
  code: Code;
  ref: string;
  kind: 'branch' | 'tag' | 'commit';
  /** null if the repository is empty. */
  commit: Oid | null;
  /** Without slashes at its ends; empty: the root. */
  path: string;
  /** Usual target of merge requests for branches of the project; null if the user may open none. */
  requestTarget: Project | null;
  /** The user came to propose a change: it goes to a new branch. */
  startsRequest: boolean;
};

export const editParams = { ...projectPath, rest: text({ maxLength: 16_000 }) };

type Address = { project: string; rest: string; propose?: boolean | undefined };

/**
 * Finds the branch and path. In an empty repository, the first segment is the branch to create.
 * @throws Failure 404, 403
 */
export const findEditTarget = async (
  visit: Visit,
  { propose: startsRequest = false, ...params }: Address,
): Promise<EditTarget> => {
  const project = await findProjectFor(visit.call, params.project, 'read_code');
  const requestTarget = await findUsualTarget(visit, project);
  const requestFacts = { requestTarget, startsRequest };
  if (project.default_branch !== null)
    return { ...(await findLocationToChange(visit, params)), ...requestFacts };
  const [ref = '', ...segments] = decodePath(params.rest).split('/');
  const path = segments.filter((segment) => segment !== '').join('/');
  return {
    project,
    code: openCode(visit.call, project),
    ref,
    kind: 'branch',
    commit: null,
    path,
    ...requestFacts,
  };
};

const mayEdit = ({ call }: Visit, { project }: EditTarget): boolean => may(call.viewer, 'push_code', project);

/** @throws Failure 403 */
export const requireEditor = (visit: Visit, target: EditTarget): void => {
  if (!mayEdit(visit, target)) throw forbidden();
};

type EditNoun = 'new' | 'new_folder' | 'upload' | 'edit' | 'delete';

/**
 * Declares the page with the form of a change: `/group/project/-/edit/main/README.md`. Users who can read, but not
 * push, are redirected to this page of their fork.
 */
export const editorPage = (noun: EditNoun, view: (visit: Visit, target: EditTarget) => Promise<View>) =>
  page({
    method: 'GET',
    path: `${projectRoot}/${noun}/:rest`,
    audience: 'user',
    params: object({
      ...editParams,
      propose: optional(boolean({ description: 'commit to a new branch, for a merge request' })),
    }),
    handle: async (visit, params) => {
      try {
        const target = await findEditTarget(visit, params);
        return mayEdit(visit, target)
          ? await view(visit, target)
          : await offerForksView(
              visit,
              target.project,
              codePath(target.project, noun, target.ref, target.path),
            );
      } catch (error) {
        const isMissing = isNotFound(error);
        if (!isMissing || params.propose !== true) throw error;
        return missingInForkView(visit, await findProjectFor(visit.call, params.project, 'read_code'));
      }
    },
  });

/** Returns whether a commit to this branch creates it. */
export const createsBranch = ({ ref, kind, commit }: EditTarget, branch: string): boolean =>
  commit !== null && !(kind === 'branch' && branch === ref);

export const isCommitId = (id: string): boolean => /^[0-9a-f]{40}$/.test(id);

/** Returns the path of a folder without white space and slashes at its ends. */
export const cleanFolder = (text: string): string => trimSlashes(text.trim());
