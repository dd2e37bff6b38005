/** The forms that revert and cherry-pick a change. */
import type { PickKind } from '../../../../code/repository/commits/cherry_pick.ts';
import type { Visit } from '../../page.ts';
import { checkbox, form, input } from '../form.ts';
import { type Html, html } from '../html.ts';
import { projectSuggestions } from '../fields/suggestions.ts';

type Pick = {
  projectId: number;
  action: string;
  kind: PickKind;
  label: string;
  branch: string;
  hint: string;
};

const pickForm = (visit: Visit, { projectId, action, kind, label, branch, hint }: Pick): Html =>
  html`<details class="act"><summary>${label}</summary>${form(
    visit,
    { action, submit: label, isQuiet: true },
    input({
      name: 'branch',
      id: `${kind}_branch`,
      label: 'Branch',
      hint,
      value: branch,
      required: true,
      autocomplete: 'off',
      suggestions: projectSuggestions(projectId, 'branches'),
    }),
    checkbox({
      name: 'request',
      id: `${kind}_request`,
      value: '1',
      label: 'In a new branch, for a merge request',
      checked: true,
    }),
  )}</details>`;

type PickFormOptions = {
  projectId: number;
  /** Address of what is picked; the forms are sent below it. */
  path: string;
  /** Branch that has the change. */
  branch: string;
};

/** Renders both forms, for a user who can push. */
export const pickForms = (visit: Visit, { projectId, path, branch }: PickFormOptions): Html =>
  html`<div class="row top-aligned">${pickForm(visit, {
    projectId,
    action: `${path}/revert`,
    kind: 'revert',
    label: 'Revert',
    branch,
    hint: 'A commit that undoes this one is added to it.',
  })}${pickForm(visit, {
    projectId,
    action: `${path}/cherry_pick`,
    kind: 'cherry_pick',
    label: 'Cherry-pick',
    branch: '',
    hint: 'The change is added to it, too.',
  })}</div>`;
