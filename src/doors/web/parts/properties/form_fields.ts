/** Renders the fields of labels, people and milestone in the forms for new issues and merge requests. */
import { type FormProblems, input, select } from '../form.ts';
import { usersById } from '../../../../identity/users/queries.ts';
import type { Visit } from '../../page.ts';
import type { Html } from '../html.ts';
import { peopleField } from './property_forms.ts';
import type { Choices } from './load_choices.ts';

type Chosen = {
  labels: readonly string[];
  milestone_id: number | null;
};

type ChosenPeople = {
  assignee_ids: readonly number[];
  reviewer_ids?: readonly number[];
  assignee_username?: string | undefined;
  reviewer_username?: string | undefined;
};

/** Renders the fields of a role; users who are no members are loaded, so that a refused form keeps them. */
const roleField = async (
  { call }: Visit,
  choices: Choices,
  filled: ChosenPeople,
  { role, problems }: { role: 'assignee' | 'reviewer'; problems: FormProblems },
): Promise<Html> => {
  const ids = new Set(filled[`${role}_ids`]);
  const members = choices.members.filter(({ id }) => ids.has(id));
  const listed = new Set(members.map(({ id }) => id));
  const others = await usersById(
    call.db,
    [...ids].filter((id) => !listed.has(id)),
  );
  const own = [...members, ...others.values()];
  const typed = filled[`${role}_username`] ?? '';
  return peopleField({ role, own, choices, typed, isTitled: true, problems });
};

export const assigneesField = async (
  visit: Visit,
  choices: Choices,
  filled: ChosenPeople,
  problems: FormProblems,
): Promise<Html> => await roleField(visit, choices, filled, { role: 'assignee', problems });

export const reviewersField = async (
  visit: Visit,
  choices: Choices,
  filled: ChosenPeople,
  problems: FormProblems,
): Promise<Html> => await roleField(visit, choices, filled, { role: 'reviewer', problems });

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
