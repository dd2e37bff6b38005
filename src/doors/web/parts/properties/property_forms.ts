/** Forms that change one property of an issue or merge request. */
import { today } from '../../../../core/access/viewer.ts';
import { formatDuration } from '../../../../platform/duration.ts';
import type { Visit } from '../../page.ts';
import { hidden, input, select } from '../form.ts';
import { type FormProblems, noProblems } from '../form_problems.ts';
import { type Html, html } from '../html.ts';
import { projectSuggestions } from '../fields/suggestions.ts';
import { label } from '../label.ts';
import type { Choices } from './load_choices.ts';

type Label = Omit<Choices['labels'][number], 'id'>;
type Member = Choices['members'][number];

/** Renders a form of one property. */
export const propertyForm = (visit: Visit, action: string, fields: Html, submit = 'Save'): Html =>
  html`<form method="post" action="${action}">${hidden('authenticity_token', visit.csrfToken())}${fields}<div class="buttons"><button class="primary small">${submit}</button></div></form>`;

/** Sends what a form showed, so that only the difference is applied. */
const shownList = (name: string, values: readonly (string | number)[]): Html =>
  html`${['', ...values].map((value) => hidden(`shown_${name}[]`, value))}`;

type Box = { value: string; content: Html; isChecked: boolean };

type Title = {
  title: string;
  /** The title is visible, where no heading says the same. */
  isTitled?: boolean | undefined;
};

/** Renders a list of checkboxes with a field that filters it. */
const pickList = (name: string, { title, isTitled = false }: Title, boxes: readonly Box[]): Html => {
  const id = `pick_${name}`;
  const rows = boxes.map(
    ({ value, content, isChecked }, at) =>
      html`<li><input type="checkbox" id="${id}_${at}" name="${name}[]" value="${value}"${isChecked && html` checked`}><label for="${id}_${at}">${content}</label></li>`,
  );
  return html`<fieldset class="pick"><legend${!isTitled && html` class="visually-hidden"`}>${title}</legend>${hidden(`${name}[]`, '')}${
    boxes.length > 7 &&
    html`<input type="search" aria-label="Filter ${title.toLowerCase()}" placeholder="Filter" data-filter="#${id} > *">`
  }<ul id="${id}">${rows}</ul></fieldset>`;
};

/** @param own labels of the record */
export const labelsForm = (
  visit: Visit,
  action: string,
  { own, choices }: { own: readonly Label[]; choices: Choices },
): Html => {
  const names = new Set(own.map(({ name }) => name));
  const others = choices.labels.filter(({ name }) => !names.has(name));
  const boxes = [...own, ...others].map((one) => ({
    value: one.name,
    content: label(one),
    isChecked: names.has(one.name),
  }));
  const fresh = input({
    name: 'add_labels',
    label: 'Further labels',
    hint: 'Names, separated by commas. Missing labels are created.',
    autocomplete: 'off',
    suggestions: projectSuggestions(choices.project_id, 'labels'),
  });
  const shown = shownList('labels', [...names]);
  return propertyForm(visit, action, html`${shown}${pickList('labels', { title: 'Labels' }, boxes)}${fresh}`);
};

type People = {
  /** `assignee` or `reviewer`: the form sends `assignee_ids[]` and `assignee_username`. */
  role: 'assignee' | 'reviewer';
  /** Users who have the role now. */
  own: readonly Member[];
  choices: Choices;
  /** The viewer, listed first; null if nobody is signed in. */
  me: Member | null;
};

type PeopleField = People & {
  /** Names that were typed. */
  typed?: string;
  isTitled?: boolean;
  problems?: FormProblems;
};

/** Renders the choice of several members, and of further users by their names. */
export const peopleField = (field: PeopleField): Html => {
  const { role, own, choices, me, typed = '', isTitled, problems = noProblems } = field;
  const ids = new Set(own.map(({ id }) => id));
  const others = [...(me === null ? [] : [me]), ...choices.members.filter(({ id }) => id !== me?.id)];
  const boxes = [...own, ...others.filter(({ id }) => !ids.has(id))].map(({ id, name, username }) => ({
    value: String(id),
    content: html`${name} <span class="muted">@${username}${id === me?.id && ', you'}</span>`,
    isChecked: ids.has(id),
  }));
  const title = role === 'assignee' ? 'Assignees' : 'Reviewers';
  const namedField = input({
    name: `${role}_username`,
    label: `Further ${title.toLowerCase()}`,
    hint: 'User names, separated by commas.',
    value: typed,
    autocomplete: 'off',
    suggestions: projectSuggestions(choices.project_id, 'members'),
    problems,
  });
  return html`${pickList(`${role}_ids`, { title, isTitled }, boxes)}${namedField}`;
};

/** Renders the form that adds the viewer; null if they have the role already. */
export const addMeForm = (
  visit: Visit,
  action: string,
  { role, own }: { role: People['role']; own: readonly { id: number }[] },
): Html | null => {
  const me = visit.call.actor?.user.id;
  const ids = own.map(({ id }) => id);
  if (me === undefined || ids.includes(me)) return null;
  const fields = [...ids, me].map((id) => hidden(`${role}_ids[]`, id));
  return html`<form method="post" action="${action}">${hidden('authenticity_token', visit.csrfToken())}${shownList(`${role}_ids`, ids)}${fields}<button class="small">${role === 'assignee' ? 'Assign to me' : 'Review it myself'}</button></form>`;
};

export const peopleForm = (visit: Visit, action: string, options: Omit<People, 'me'>): Html => {
  const people = { ...options, me: visit.call.actor?.user ?? null };
  const { role, own } = people;
  const shown = shownList(
    `${role}_ids`,
    own.map(({ id }) => id),
  );
  return propertyForm(visit, action, html`${shown}${peopleField(people)}`);
};

export const milestoneForm = (
  visit: Visit,
  action: string,
  { own, choices }: { own: { id: number; title: string } | null; choices: Choices },
): Html => {
  const isListed = own === null || choices.milestones.some(({ id }) => id === own.id);
  const options = [
    ['', 'None'] as const,
    ...(isListed ? [] : [[String(own.id), own.title] as const]),
    ...choices.milestones.map(({ id, title }) => [String(id), title] as const),
  ];
  return propertyForm(
    visit,
    action,
    html`${hidden('shown_milestone_id', own?.id ?? '')}${select({
      name: 'milestone_id',
      label: 'Milestone',
      value: String(own?.id ?? ''),
      options,
    })}`,
  );
};

/** @param estimated seconds */
export const timeForm = (visit: Visit, action: string, estimated: number): Html => {
  const estimate = input({
    name: 'time_estimate',
    label: 'Estimate',
    hint: 'Such as 1w 2d 3h. Default: none.',
    value: formatDuration(estimated) ?? '',
  });
  const spent = input({
    name: 'spend',
    label: 'Add time spent',
    hint: 'Such as 1h 30m, or -30m to subtract.',
  });
  const summary = input({ name: 'summary', label: 'Summary', hint: 'What the time was spent on.' });
  const day = input({
    name: 'spent_on',
    label: 'Day',
    hint: 'Default: today.',
    type: 'date',
    max: today(visit.call.now),
  });
  const shown = hidden('shown_time_estimate', formatDuration(estimated) ?? '');
  return propertyForm(visit, action, html`${shown}${estimate}${spent}${summary}${day}`);
};
