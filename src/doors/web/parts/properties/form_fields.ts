/** Renders the fields of labels, people and milestone in the forms for new issues and merge requests. */
import { type FormProblems, input, select } from '../form.ts';
import type { Html } from '../html.ts';
import type { Choices } from './load_choices.ts';

type Chosen = {
  labels: readonly string[];
  assignee_ids: readonly number[];
  milestone_id: number | null;
};

/** Renders the choice of one member. */
export const memberField = (
  { members }: Choices,
  { name, label, ids }: { name: string; label: string; ids: readonly number[] },
): Html =>
  select({
    name,
    label,
    value: String(ids[0] ?? ''),
    options: [
      ['', 'Nobody'],
      ...members.map((one) => [String(one.id), `${one.name} (@${one.username})`] as const),
    ],
  });

export const assigneeField = (choices: Choices, { assignee_ids }: Chosen): Html =>
  memberField(choices, { name: 'assignee_ids[]', label: 'Assignee', ids: assignee_ids });

export const milestoneField = ({ milestones }: Choices, { milestone_id }: Chosen): Html =>
  select({
    name: 'milestone_id',
    label: 'Milestone',
    value: String(milestone_id ?? ''),
    options: [['', 'None'], ...milestones.map(({ id, title }) => [String(id), title] as const)],
  });

export const labelsField = (choices: Choices, { labels }: Chosen, problems: FormProblems): Html =>
  input({
    name: 'labels',
    label: 'Labels',
    hint: 'Names, separated by commas. Missing ones are created.',
    value: labels.join(', '),
    suggestions: choices.labels.map(({ name }) => name),
    problems,
  });
