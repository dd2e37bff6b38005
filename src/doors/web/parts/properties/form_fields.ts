/** Renders the fields of labels, people and milestone in the forms for new issues and merge requests. */
import { input, select } from '../form.ts';
import type { FormProblems } from '../form_problems.ts';
import { usersById } from '../../../../identity/users/queries.ts';
import type { Visit } from '../../page.ts';
import type { Html } from '../html.ts';
import { projectSuggestions } from '../fields/suggestions.ts';
import { peopleField } from './property_forms.ts';
import type { Choices } from './load_choices.ts';

type Chosen = {
  labels: readonly string[];
  /** Further labels from a URL. Omits labels that cannot be chosen. */
  label_ids?: readonly number[];
  milestone_id: number | null;
};

type ChosenPeople = {
  assignee_ids: readonly number[];
  reviewer_ids?: readonly number[];
  assignee_username?: string | undefined;
  reviewer_username?: string | undefined;
};

/** Renders the fields of a role; users who are not members are loaded, so that a refused form keeps them. */
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
  const me = call.actor?.user ?? null;
  return peopleField({ role, own, choices, me, typed, isTitled: true, problems });
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

export const milestoneField = (
  { milestones }: Choices,
  { milestone_id }: Pick<Chosen, 'milestone_id'>,
): Html =>
  select({
    name: 'milestone_id',
    label: 'Milestone',
    value: String(milestone_id ?? ''),
    options: [['', 'None'], ...milestones.map(({ id, title }) => [String(id), title] as const)],
  });

/** Returns the names of the labels, each once. */
const labelNames = (
  choices: Choices,
  { labels, label_ids = [] }: Pick<Chosen, 'labels' | 'label_ids'>,
): string[] => {
  const ids = new Set(label_ids);
  const named = choices.labels.filter(({ id }) => ids.has(id)).map(({ name }) => name);
  return [...new Set([...labels, ...named])];
};

export const labelsField = (
  choices: Choices,
  chosen: Pick<Chosen, 'labels' | 'label_ids'>,
  problems: FormProblems,
): Html =>
  input({
    name: 'labels',
    label: 'Labels',
    hint: 'Names, separated by commas. Missing labels are created.',
    value: labelNames(choices, chosen).join(', '),
    autocomplete: 'off',
    suggestions: projectSuggestions(choices.project_id, 'labels'),
    problems,
  });
