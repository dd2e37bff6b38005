/** The form of a milestone: a new one, or an edit. */
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, longText, optional, text } from '../../../../platform/http/schema.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import type { View, Visit } from '../../page.ts';
import { form, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import type { OwnedList } from '../labels/project_or_group_routes.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { promotePart } from '../labels/promote_part.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { baseField, guardEdits } from '../../parts/fields/guard_edits.ts';

export const milestoneFields = {
  title: optional(text({ maxLength: 1_000 })),
  description: optional(clearable(longText())),
  start_date: optional(clearable(day())),
  due_date: optional(clearable(day())),
};

export const editFields = { ...milestoneFields, ...baseField };

const names = ['title', 'description', 'start_date', 'due_date'] as const;

export type MilestoneState = FormState<Record<(typeof names)[number], string>>;

const blank: MilestoneState['values'] = {
  title: '',
  description: '',
  start_date: '',
  due_date: '',
};

const fromRecord = (row: MilestoneRow): MilestoneState['values'] => ({
  title: row.title,
  description: row.description ?? '',
  start_date: row.start_date ?? '',
  due_date: row.due_date ?? '',
});

export const fromSent = (sent: RawParams): MilestoneState['values'] => readTexts(sent, names);

export const milestoneGuard = guardEdits({
  word: 'milestone',
  fromRecord,
  labels: {
    title: 'Title',
    description: 'Description',
    start_date: 'Start date',
    due_date: 'Due date',
  },
});

export const toProblems = (problems: FormProblems): FormProblems => moveUnknownToText(problems, names);

const fields = ({ project }: OwnedList, { values, problems }: MilestoneState) => [
  input({
    name: 'title',
    label: 'Title',
    value: values.title,
    required: true,
    autofocus: true,
    problems,
  }),
  markdownEditor({
    name: 'description',
    label: 'Description',
    value: values.description,
    project,
    problems,
  }),
  html`<div class="columns">${input({ name: 'start_date', label: 'Start date', type: 'date', value: values.start_date, problems })}${input(
    { name: 'due_date', label: 'Due date', type: 'date', value: values.due_date, problems },
  )}</div>`,
];

/** Renders the page of a new milestone. */
export const newMilestoneView = (
  visit: Visit,
  list: OwnedList,
  state: MilestoneState = unsent(blank),
): View => {
  const options = { action: list.path, submit: 'Create milestone', problems: state.problems };
  const content = html`<section class="card form-page"><div class="body">${form(visit, options, ...fields(list, state))}</div></section>`;
  return list.view(visit, { title: 'New milestone' }, content);
};

/** Renders the page that edits or deletes a milestone. */
export const editMilestoneView = (
  visit: Visit,
  list: OwnedList,
  row: MilestoneRow,
  state: MilestoneState = unsent(fromRecord(row)),
): View => {
  const path = `${list.path}/${row.iid}`;
  const { base, submit, card } = milestoneGuard.parts(row, state, `${path}/edit`);
  const options = { action: path, submit, problems: state.problems };
  const remove = form(visit, { action: `${path}/delete`, submit: 'Delete milestone', danger: true });
  const content = html`<section class="card form-page"><div class="body">${form(visit, options, ...fields(list, state), base)}</div></section>
${card}${promotePart(visit, list, { path, word: 'milestone' })}<section class="card danger-zone form-page"><header><h2>Delete this milestone</h2></header><div class="body stack">
<p>Its issues and merge requests are kept, without a milestone. This cannot be undone.</p>
${remove}</div></section>`;
  return list.view(visit, { title: 'Edit milestone' }, content);
};
