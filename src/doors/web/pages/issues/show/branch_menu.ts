/** The menu that creates a branch, or a merge request, for an issue. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import {
  mayBranchForIssue,
  mayRequestForIssue,
  proposeBranchName,
} from '../../../../../review/merge_requests/issues/branch_for_issue.ts';
import type { Visit } from '../../../page.ts';
import { checkbox, hidden, input } from '../../../parts/form.ts';
import { type FormProblems, noProblems, problemText } from '../../../parts/form_problems.ts';
import { projectSuggestions } from '../../../parts/fields/suggestions.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { issuePath } from '../paths.ts';

type Filled = { branch: string; ref: string; draft: boolean; problems?: FormProblems };

export const branchForm = (
  visit: Visit,
  loaded: LoadedIssue,
  { branch, ref, draft, problems = noProblems }: Filled,
): Html => {
  const { project } = loaded;
  const mayRequest = mayRequestForIssue(visit.call, loaded);
  const alert =
    problems !== noProblems && html`<p class="flash alert" role="alert">${problemText(problems)}</p>`;
  return html`<form method="post" action="${issuePath(loaded, '/branch')}" class="branch-form">${alert}${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${input({
    name: 'branch',
    id: 'new_branch',
    label: 'New branch',
    value: branch,
    required: true,
    autocomplete: 'off',
  })}${input({
    name: 'ref',
    id: 'new_branch_ref',
    label: 'Source',
    hint: 'A branch, a tag or the id of a commit.',
    value: ref,
    required: true,
    autocomplete: 'off',
    suggestions: projectSuggestions(project.id, 'branches'),
  })}${mayRequest && checkbox({ name: 'draft', label: 'Mark the merge request as draft', checked: draft })}<div class="buttons">${
    mayRequest &&
    html`<button class="primary" name="intent" value="merge_request">Create merge request</button>`
  }<button name="intent" value="branch">Create branch</button></div></form>`;
};

/** Renders the menu; null if the viewer may not create a branch, or there is nothing to start from. */
export const branchMenu = (visit: Visit, loaded: LoadedIssue): Html | null => {
  const { issue, project } = loaded;
  const { default_branch: ref } = project;
  if (ref === null || issue.state !== 'opened') return null;
  if (!visit.call.signedIn || !mayBranchForIssue(visit.call, loaded)) return null;
  const word = mayRequestForIssue(visit.call, loaded) ? 'Create merge request' : 'Create branch';
  return menu(
    { summary: html`${icon('branch')} ${word} ${icon('chevron-down')}`, classes: 'button' },
    branchForm(visit, loaded, { branch: proposeBranchName(issue), ref, draft: true }),
  );
};
