/** The fields of the form for a new merge request. */
import { may } from '../../../../../core/access/may.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { Visit } from '../../../page.ts';
import { checkbox, input } from '../../../parts/form.ts';
import type { FormProblems } from '../../../parts/form_problems.ts';
import { type Html, html } from '../../../parts/html.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';
import { type Choices, addChosen, loadChoices } from '../../../parts/properties/load_choices.ts';
import {
  assigneesField,
  labelsField,
  milestoneField,
  reviewersField,
} from '../../../parts/properties/form_fields.ts';
import type { Ends } from './find_ends.ts';

export type Filled = {
  title: string;
  draft: boolean;
  description: string;
  labels: readonly string[];
  label_ids?: readonly number[];
  assignee_ids: readonly number[];
  reviewer_ids: readonly number[];
  assignee_username?: string | undefined;
  reviewer_username?: string | undefined;
  milestone_id: number | null;
  squash: boolean;
  remove_source_branch: boolean;
};

/** Fields that need the permission to administer merge requests. */
const adminFields = async (
  visit: Visit,
  filled: Filled,
  choices: Choices,
  problems: FormProblems,
): Promise<Html[]> => [
  await assigneesField(visit, choices, filled, problems),
  await reviewersField(visit, choices, filled, problems),
  milestoneField(choices, filled),
  labelsField(choices, filled, problems),
];

/** Renders the choices about the merge. */
export const mergeFields = (
  target: Pick<Project, 'squash_option'>,
  { squash, remove_source_branch }: Pick<Filled, 'squash' | 'remove_source_branch'>,
): Html[] => [
  checkbox({
    name: 'remove_source_branch',
    label: 'Delete the source branch when it is merged',
    checked: remove_source_branch,
  }),
  ...(['default_on', 'default_off'].includes(target.squash_option)
    ? [checkbox({ name: 'squash', label: 'Squash commits when it is merged', checked: squash })]
    : []),
];

/** Renders the texts, and the properties next to them. */
export const requestFields = async (
  visit: Visit,
  { target }: Ends,
  filled: Filled,
  problems: FormProblems,
): Promise<Html> => {
  const isAdmin = may(visit.call.viewer, 'admin_merge_request', target);
  const main = [
    input({
      name: 'title',
      label: 'Title',
      value: filled.title,
      required: true,
      problems,
    }),
    checkbox({
      name: 'draft',
      label: 'Draft',
      hint: 'The work is not ready to be merged. The title begins with “Draft:”.',
      checked: filled.draft,
    }),
    markdownEditor({
      name: 'description',
      label: 'Description',
      hint: '“Closes #1” closes an issue with the merge.',
      value: filled.description,
      rows: 14,
      project: target,
      actions: 'new_merge_request',
      problems,
    }),
  ];
  const loadAll = async (): Promise<Choices> =>
    await addChosen(visit, target, await loadChoices(visit, target), filled);
  const side = isAdmin ? await adminFields(visit, filled, await loadAll(), problems) : [];
  return html`<div class="with-aside"><div>${main}</div><div>${side}${mergeFields(target, filled)}</div></div>`;
};
