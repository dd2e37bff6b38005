/** The form of a label: a new one, or an edit. */
import type { Static } from 'typebox';
import { clearable, integer, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import type { LabelRow } from '../../../../projects/labels/label_row.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { View, Visit } from '../../page.ts';
import { type FormProblems, form, input, noProblems, withFormStatus } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { label } from '../../parts/label.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import type { OwnedList } from './project_or_group_routes.ts';
import { promotePart } from './promote_part.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

export const labelFormParams = {
  name: optional(longText()),
  color: optional(text()),
  description: optional(clearable(text({ maxLength: 65_535 }))),
  priority: optional(clearable(integer({ minimum: 0, maximum: 2 ** 31 - 1 }))),
};

const shape = object(labelFormParams);
export type LabelForm = Static<typeof shape>;

/** The form values as sent, including invalid values. */
type Filled = { [F in keyof LabelForm]?: string | number | null | undefined };

export type TriedLabel = { filled: Filled; problems: FormProblems };

const defaultColor = '#1f75cb';

/** Returns `#rrggbb`, as the color field of browsers requires it. */
const toLongColor = (color: string): string =>
  color.length === 4 ? `#${[1, 2, 3].map((at) => color.charAt(at).repeat(2)).join('')}` : color;

const filledFrom = (row: LabelRow): Filled => ({
  name: row.title,
  color: toLongColor(row.color),
  description: row.description,
  priority: row.priority,
});

/** Returns the form as it was sent, for fields that could not be parsed. */
export const asSent = (sent: RawParams, problems: FormProblems): TriedLabel => ({
  filled: {
    name: fieldText(sent['name']),
    color: fieldText(sent['color']),
    description: fieldText(sent['description']),
    priority: fieldText(sent['priority']),
  },
  problems,
});

/** Moves the problems of an operation to the fields of the form. */
export const labelProblems = ({ text: said, fields: { title, ...fields } }: FormProblems): FormProblems =>
  moveUnknownToText({ text: said, fields: { ...fields, ...(title !== undefined && { name: title }) } }, [
    'name',
    'color',
    'description',
    'priority',
  ]);

const fields = (list: OwnedList, { filled, problems }: TriedLabel) => [
  input({
    name: 'name',
    label: 'Name',
    hint: html`Labels of the form <code>key::value</code> show the key separately.`,
    value: filled.name ?? '',
    required: true,
    autofocus: true,
    problems,
  }),
  input({ name: 'color', label: 'Color', type: 'color', value: filled.color ?? defaultColor, problems }),
  input({ name: 'description', label: 'Description', value: filled.description ?? '', problems }),
  list.project === null
    ? null
    : input({
        name: 'priority',
        label: 'Priority',
        type: 'number',
        min: 0,
        hint: 'Labels with a priority come first in the list, lowest number first. Default: no priority.',
        value: filled.priority ?? '',
        problems,
      }),
];

/** Renders the page of a new label. */
export const newLabelView = (
  visit: Visit,
  list: OwnedList,
  tried: TriedLabel = { filled: {}, problems: noProblems },
): View => {
  const given = { action: list.path, submit: 'Create label', problems: tried.problems };
  const content = html`<section class="card form-page"><div class="body">${form(visit, given, ...fields(list, tried))}</div></section>`;
  const view = list.view(visit, { title: 'New label' }, content);
  return withFormStatus(view, tried.problems);
};

/** Renders the page that edits or deletes a label. */
export const editLabelView = (visit: Visit, list: OwnedList, row: LabelRow, tried?: TriedLabel): View => {
  const shown = tried ?? { filled: filledFrom(row), problems: noProblems };
  const path = `${list.path}/${row.id}`;
  const given = { action: path, submit: 'Save changes', problems: shown.problems };
  const remove = form(visit, { action: `${path}/delete`, submit: 'Delete label', danger: true });
  const content = html`<p>${label({ name: row.title, color: row.color })}</p>
<section class="card form-page"><div class="body">${form(visit, given, ...fields(list, shown))}</div></section>
${promotePart(visit, list, { path, word: 'label' })}<section class="card danger-zone form-page"><header><h2>Delete this label</h2></header><div class="body stack">
<p>It is removed from all issues and merge requests. This cannot be undone.</p>
${remove}</div></section>`;
  const view = list.view(visit, { title: 'Edit label' }, content);
  return tried === undefined ? view : { ...view, status: 422 };
};
