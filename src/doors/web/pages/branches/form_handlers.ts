/** Creates and deletes branches, by the operations of the API. */
import { createBranch, findCodeForPush } from '../../../../code/repository/branches/create.ts';
import { deleteBranch, deleteMergedBranches } from '../../../../code/repository/branches/delete.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import { retryOnConflict } from '../../../../code/repository/refs/authorized_ref_changes.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { readRefFailure } from '../../parts/code/attempt_ref_change.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, withFormStatus } from '../../parts/form_problems.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectSuggestions } from '../../parts/fields/suggestions.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';
import { branchesPath, branchesRoutePath } from './list.ts';

const branchFields = { branch: optional(text()), ref: optional(text({ maxLength: 1_000 })) };

type Filled = { branch?: string | undefined; ref?: string | undefined };

const newView = (
  visit: Visit,
  { project }: Code,
  { values: { branch = '', ref }, problems }: FormState<Filled>,
): View => {
  const content = html`<section class="card form-page"><div class="body">${form(
    visit,
    { action: branchesPath(project), submit: 'Create branch', problems },
    input({ name: 'branch', label: 'Name', value: branch, required: true, autofocus: true, problems }),
    input({
      name: 'ref',
      label: 'Create from',
      hint: 'A branch, a tag or the id of a commit.',
      value: ref ?? project.default_branch ?? '',
      required: true,
      autocomplete: 'off',
      suggestions: projectSuggestions(project.id, 'branches'),
      problems,
    }),
  )}</div></section>`;
  const view = projectView(visit, { project, title: 'New branch', noun: 'branches' }, content);
  return withFormStatus(view, problems);
};

const newPage = page({
  method: 'GET',
  path: `${branchesRoutePath}/new`,
  audience: 'user',
  params: object({ ...projectPath, ...branchFields }),
  handle: async (visit, { project, ...filled }) =>
    newView(visit, await findCodeForPush(visit.call, project), unsent(filled)),
});

/** Places a message about the whole request at the field it is about. */
const atField = ({ text: said, fields }: FormProblems): FormProblems => {
  if (said === null) return { text: said, fields };
  const field = said.startsWith('Invalid reference name') ? 'ref' : 'branch';
  return { text: null, fields: { ...fields, [field]: [said] } };
};

const create = formPage({
  path: branchesRoutePath,
  audience: 'user',
  address: projectPath,
  fields: branchFields,
  find: async ({ call }, { project }) => await findCodeForPush(call, project),
  fromSent: (sent) => readTexts(sent, ['branch', 'ref']),
  readFailure: readRefFailure,
  toProblems: atField,
  run: async ({ call }, code, { branch = '', ref = '' }) => {
    const name = branch.trim();
    await createBranch(call, code, { branch: name, from: ref.trim() });
    return redirect(codePath(code.project, 'tree', name), `The branch ${name} was created.`);
  },
  view: newView,
});

const remove = page({
  method: 'POST',
  path: `${branchesRoutePath}/delete`,
  audience: 'user',
  params: object({ ...projectPath, branch: text(), back: optional(text({ maxLength: 2_000 })) }),
  handle: async ({ call }, { project: fullPath, branch, back }) => {
    const code = await findCodeForPush(call, fullPath);
    await deleteBranch(call, code, branch);
    const next = back === undefined ? branchesPath(code.project) : safeRedirectPath(back, call.baseUrl);
    return redirect(next, `The branch ${branch} was deleted.`);
  },
});

const removeMerged = page({
  method: 'POST',
  path: `${branchesRoutePath}/delete_merged`,
  audience: 'user',
  params: object(projectPath),
  handle: async ({ call }, { project: fullPath }) => {
    const code = await findCodeForPush(call, fullPath);
    await retryOnConflict(async () => await deleteMergedBranches(call, code));
    return redirect(branchesPath(code.project), 'Merged branches were deleted, except protected branches.');
  },
});

export const formPages = [newPage, create, remove, removeMerged];
