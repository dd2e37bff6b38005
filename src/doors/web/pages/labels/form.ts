/** The form of a label: a new one, or an edit. */
import { clearable, integer, longText, optional, text } from '../../../../platform/http/schema.ts';
import type { LabelRow } from '../../../../projects/labels/label_row.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { View, Visit } from '../../page.ts';
import { form, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { label } from '../../parts/label.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import type { OwnedList } from './project_or_group_routes.ts';
import { promotePart } from './promote_part.ts';
import { fieldText, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { baseField, guardEdits } from '../../parts/fields/guard_edits.ts';

export const labelFields = {
  name: optional(longText()),
  color: optional(text()),
  description: optional(clearable(text({ maxLength: 65_535 }))),
  priority: optional(clearable(integer({ minimum: 0, maximum: 2 ** 31 - 1 }))),
};

export const editFields = { ...labelFields, ...baseField };

const names = ['name', 'color', 'description', 'priority'] as const;

export type LabelState = FormState<Record<(typeof names)[number], string>>;

const defaultColor = '#1f75cb';

/** Returns `#rrggbb`, as the color field of browsers requires it. */
const toLongColor = (color: string): string =>
  color.length === 4 ? `#${[1, 2, 3].map((at) => color.charAt(at).repeat(2)).join('')}` : color;

const blank: LabelState['values'] = { name: '', color: defaultColor, description: '', priority: '' };

const fromRecord = (row: LabelRow): LabelState['values'] => ({
  name: row.title,
  color: toLongColor(row.color),
  description: row.description ?? '',
  priority: fieldText(row.priority),
});

export const labelGuard = guardEdits({
  word: 'label',
  fromRecord,
  labels: { name: 'Name', color: 'Color', description: 'Description', priority: 'Priority' },
  normalize: (typed) => ({ ...typed, color: toLongColor(typed.color) }),
});

export const fromSent = (sent: RawParams): LabelState['values'] => readTexts(sent, names);

/** Moves the problems of an operation to the fields of the form. */
export const toProblems = ({ text: said, fields: { title, ...fields } }: FormProblems): FormProblems =>
  moveUnknownToText(
    { text: said, fields: { ...fields, ...(title !== undefined && { name: title }) } },
    names,
  );

const fields = (list: OwnedList, { values, problems }: LabelState) => [
  input({
    name: 'name',
    label: 'Name',
    hint: html`Labels of the form <code>key::value</code> show the key separately.`,
    value: values.name,
    required: true,
    autofocus: true,
    problems,
  }),
  input({ name: 'color', label: 'Color', type: 'color', value: values.color, problems }),
  input({ name: 'description', label: 'Description', value: values.description, problems }),
  list.project === null
    ? null
    : input({
        name: 'priority',
        label: 'Priority',
        type: 'number',
        min: 0,
        hint: 'Labels with a priority come first in the list, lowest number first. Default: no priority.',
        value: values.priority,
        problems,
      }),
];

/** Renders the page of a new label. */
export const newLabelView = (visit: Visit, list: OwnedList, state: LabelState = unsent(blank)): View => {
  const options = { action: list.path, submit: 'Create label', problems: state.problems };
  const content = html`<section class="card form-page"><div class="body">${form(visit, options, ...fields(list, state))}</div></section>`;
  return list.view(visit, { title: 'New label' }, content);
};

/** Renders the page that edits or deletes a label. */
export const editLabelView = (
  visit: Visit,
  list: OwnedList,
  row: LabelRow,
  state: LabelState = unsent(fromRecord(row)),
): View => {
  const path = `${list.path}/${row.id}`;
  const { base, submit, card } = labelGuard.parts(row, state, `${path}/edit`);
  const options = { action: path, submit, problems: state.problems };
  const remove = form(visit, { action: `${path}/delete`, submit: 'Delete label', danger: true });
  const content = html`<p>${label({ name: row.title, color: row.color })}</p>
<section class="card form-page"><div class="body">${form(visit, options, ...fields(list, state), base)}</div></section>
${card}${promotePart(visit, list, { path, word: 'label' })}<section class="card danger-zone form-page"><header><h2>Delete this label</h2></header><div class="body stack">
<p>It is removed from all issues and merge requests. This cannot be undone.</p>
${remove}</div></section>`;
  return list.view(visit, { title: 'Edit label' }, content);
};
