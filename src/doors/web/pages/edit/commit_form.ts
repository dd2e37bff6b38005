/** The place of an edit, and the part of its form that names the branch and message of the commit. */
import { type Code, openCode } from '../../../../code/repository/code.ts';
import { commitFiles } from '../../../../code/repository/commits/create.ts';
import { type FileAction, actionRefusal } from '../../../../code/repository/commits/file_actions.ts';
import { loadProtectedBranches, mayPushTo } from '../../../../code/repository/protection/rules.ts';
import { branchPrefix, loadRefs } from '../../../../code/repository/refs/resolve.ts';
import { requireUser } from '../../../../core/access/call.ts';
import { may } from '../../../../core/access/may.ts';
import { conflict, forbidden } from '../../../../platform/errors.ts';
import type { ActionProblem, Oid } from '../../../../platform/git/protocol_types.ts';
import { longText, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import type { View, Visit } from '../../page.ts';
import { attemptRefChange } from '../../parts/code/attempt_ref_change.ts';
import { findPlace } from '../../parts/code/code_place.ts';
import { decodePath } from '../../parts/code/code_path.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type FormProblems, input, textArea } from '../../parts/form.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_view.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';

export type EditPlace = {
  project: Project;
  code: Code;
  ref: string;
  kind: 'branch' | 'tag' | 'commit';
  /** null: the repository is empty. */
  commit: Oid | null;
  /** Without slashes at its ends; empty: the root. */
  path: string;
};

export const placeParams = { ...projectPath, rest: text({ maxLength: 16_000 }) };

/**
 * Finds what is edited. In an empty repository, the first segment is the branch to create.
 * @throws Failure 404, 403
 */
export const findEditPlace = async (
  visit: Visit,
  params: { project: string; rest: string },
): Promise<EditPlace> => {
  const project = await findProjectFor(visit.call, params.project, 'read_code');
  if (project.default_branch !== null) return await findPlace(visit, params);
  const [ref = '', ...segments] = decodePath(params.rest).split('/');
  const path = segments.filter((segment) => segment !== '').join('/');
  return { project, code: openCode(visit.call, project), ref, kind: 'branch', commit: null, path };
};

export const mayEdit = ({ call }: Visit, { project }: EditPlace): boolean =>
  may(call.viewer, 'push_code', project);

/** @throws Failure 403 */
export const requireEditor = (visit: Visit, place: EditPlace): void => {
  if (!mayEdit(visit, place)) throw forbidden();
};

/** Renders what users see who may read, but not push: the way by a fork. */
export const refusedView = (visit: Visit, { project }: EditPlace): View => {
  const fork = html`<a class="button primary" href="${projectPagePath(project, 'forks/new')}">${icon('fork')} Fork the project</a>`;
  const content = html`<section class="card">${emptyState({
    icon: 'lock',
    title: 'You may not push to this project',
    text: 'Fork it, change the files of your fork, and propose the change from there.',
    action: may(visit.call.viewer, 'fork_project', project) && fork,
  })}</section>`;
  return { ...projectView(visit, { project, title: 'Edit files', noun: 'edit' }, content), status: 403 };
};

/** Names of new branches that are proposed, by the user name. */
const maxPatches = 30;

/** Returns the branch of the page if the user may push to it, else the name of a new one. */
export const proposeBranch = async ({ call }: Visit, place: EditPlace): Promise<string> => {
  const { project, code, ref, kind } = place;
  const rules = await loadProtectedBranches(call.db, project.id);
  if (kind === 'branch' && mayPushTo(call.viewer, project, rules, ref)) return ref;
  const { username } = requireUser(call);
  const names = Array.from({ length: maxPatches }, (_name, at) => `${username}-patch-${at + 1}`);
  const refs = await loadRefs(
    code.repository,
    names.map((name) => branchPrefix + name),
  );
  return names.find((_name, at) => refs[at] === null) ?? '';
};

export const commitParams = { branch: optional(text()), commit_message: optional(longText()) };

export type CommitFields = { branch: string; commit_message: string };

/** Renders the fields for the message and branch of the commit. */
export const commitFields = (
  { ref, kind }: EditPlace,
  { branch, commit_message }: CommitFields,
  problems: FormProblems,
): Html =>
  html`${textArea({ name: 'commit_message', label: 'Commit message', value: commit_message, rows: 3, problems })}${input(
    {
      name: 'branch',
      label: 'Branch',
      hint:
        kind === 'branch' && branch === ref
          ? `Another name creates a new branch from ${ref}.`
          : `A new branch, created from ${ref}.`,
      value: branch,
      required: true,
      problems,
    },
  )}`;

/** Places a message about the whole request at the field it is about. */
const atField = ({ text: said, fields }: FormProblems): FormProblems => {
  if (said === null) return { text: said, fields };
  if (/branch/i.test(said)) return { text: null, fields: { branch: [said] } };
  return /^(A file|A directory|Path|invalid path)/.test(said)
    ? { text: null, fields: { file_path: [said] } }
    : { text: said, fields };
};

export type CommitResult = {
  /** null: it is committed. */
  problems: FormProblems | null;
  /** The file changed after the form was opened. */
  isOutdated: boolean;
};

/** Commits one change of a file to the branch of the form, by the operation of the API. */
export const commitChange = async (
  { call }: Visit,
  { code, ref, kind, commit }: EditPlace,
  { branch, commit_message: message }: CommitFields,
  action: FileAction,
): Promise<CommitResult> => {
  let isOutdated = false;
  const refuse = (problem: ActionProblem) => {
    isOutdated = problem.problem === 'changed_meanwhile';
    return isOutdated ? conflict('The file changed after you opened it.') : actionRefusal(problem);
  };
  const isNewBranch = commit !== null && !(kind === 'branch' && branch === ref);
  const start = kind === 'branch' ? { start_branch: ref } : { start_sha: commit ?? '' };
  const problems = await attemptRefChange(
    async () =>
      await commitFiles(call, code, {
        branch,
        message: message.replaceAll('\r\n', '\n'),
        actions: [action],
        ...(isNewBranch && start),
        refuse,
      }),
  );
  return { problems: problems === null ? null : atField(problems), isOutdated };
};
