/** Forms that change one property of an issue. */
import type { Visit } from '../../../page.ts';
import { hidden, input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { label } from '../../../parts/label.ts';
import { formatDuration } from '../../../../../platform/duration.ts';
import { issuePath } from '../find.ts';
import type { Choices } from './choices.ts';
import type { IssuePage } from './load.ts';

const form = (visit: Visit, action: string, fields: Html, submit = 'Save'): Html =>
  html`<form method="post" action="${action}">${hidden('authenticity_token', visit.csrfToken())}${fields}<div class="buttons"><button class="primary small">${submit}</button></div></form>`;

type Box = { value: string; text: string; content: Html; isChecked: boolean };

/** Renders a list of checkboxes with a field that filters it. */
const pickList = (name: string, title: string, boxes: readonly Box[]): Html => {
  const id = `pick_${name}`;
  const rows = boxes.map(
    ({ value, content, isChecked }, at) =>
      html`<li><input type="checkbox" id="${id}_${at}" name="${name}[]" value="${value}"${isChecked && html` checked`}><label for="${id}_${at}">${content}</label></li>`,
  );
  return html`<fieldset class="pick"><legend class="visually-hidden">${title}</legend>${hidden(`${name}[]`, '')}${
    boxes.length > 7 &&
    html`<input type="search" aria-label="Filter ${title.toLowerCase()}" placeholder="Filter" data-filter="#${id}">`
  }<ul id="${id}">${rows}</ul></fieldset>`;
};

export const labelsForm = (visit: Visit, { loaded, labels }: IssuePage, choices: Choices): Html => {
  const own = new Set(labels.map(({ name }) => name));
  const others = choices.labels.filter(({ name }) => !own.has(name));
  const boxes = [...labels, ...others].map((one) => ({
    value: one.name,
    text: one.name,
    content: label(one),
    isChecked: own.has(one.name),
  }));
  const fresh = input({
    name: 'add_labels',
    label: 'Further labels',
    hint: 'Names, separated by commas. Missing ones are created.',
  });
  return form(visit, issuePath(loaded), html`${pickList('labels', 'Labels', boxes)}${fresh}`);
};

export const assigneesForm = (visit: Visit, { loaded }: IssuePage, choices: Choices): Html => {
  const { assignees } = loaded.issue;
  const own = new Set(assignees.map(({ id }) => id));
  const boxes = [...assignees, ...choices.members.filter(({ id }) => !own.has(id))].map(
    ({ id, name, username }) => ({
      value: String(id),
      text: name,
      content: html`${name} <span class="muted">@${username}</span>`,
      isChecked: own.has(id),
    }),
  );
  const other = input({ name: 'assignee_username', label: 'Another user', hint: 'User name' });
  return form(visit, issuePath(loaded), html`${pickList('assignee_ids', 'Assignees', boxes)}${other}`);
};

export const milestoneForm = (visit: Visit, { loaded }: IssuePage, choices: Choices): Html => {
  const { milestone } = loaded.issue;
  const isListed = milestone === null || choices.milestones.some(({ id }) => id === milestone.id);
  const options = [
    ['', 'None'] as const,
    ...(isListed ? [] : [[String(milestone.id), milestone.title] as const]),
    ...choices.milestones.map(({ id, title }) => [String(id), title] as const),
  ];
  return form(
    visit,
    issuePath(loaded),
    select({ name: 'milestone_id', label: 'Milestone', value: String(milestone?.id ?? ''), options }),
  );
};

export const dueForm = (visit: Visit, { loaded }: IssuePage): Html =>
  form(
    visit,
    issuePath(loaded),
    input({ name: 'due_date', label: 'Due date', type: 'date', value: loaded.issue.due_date }),
  );

export const timeForm = (visit: Visit, { loaded }: IssuePage): Html => {
  const estimate = input({
    name: 'time_estimate',
    label: 'Estimate',
    hint: 'Such as 1w 2d 3h. Empty: none.',
    value: formatDuration(loaded.target.time_estimate) ?? '',
  });
  const spent = input({
    name: 'spend',
    label: 'Add time spent',
    hint: 'Such as 1h 30m, or -30m to subtract.',
  });
  return form(visit, issuePath(loaded, '/time'), html`${estimate}${spent}`);
};
