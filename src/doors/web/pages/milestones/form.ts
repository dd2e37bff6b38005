/** The form of a milestone: a new one, or an edit. */
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, longText, optional, text } from '../../../../platform/http/schema.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import type { View, Visit } from '../../page.ts';
import { type FormProblems, form, input, noProblems, withFormStatus } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import type { OwnedList } from '../labels/project_or_group_routes.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { promotePart } from '../labels/promote_part.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

export const milestoneFormParams = {
  title: optional(text({ maxLength: 1_000 })),
  description: optional(clearable(longText())),
  start_date: optional(clearable(day())),
  due_date: optional(clearable(day())),
};

const names = ['title', 'description', 'start_date', 'due_date'] as const;

/** The form values as sent, including invalid values. */
type Filled = { [N in (typeof names)[number]]?: string | null | undefined };

export type TriedMilestone = { filled: Filled; problems: FormProblems };

/** Returns the form as it was sent, for fields that could not be parsed. */
export const asSent = (sent: RawParams, problems: FormProblems): TriedMilestone => ({
  filled: Object.fromEntries(names.map((name) => [name, fieldText(sent[name])])),
  problems,
});

export const milestoneProblems = (problems: FormProblems): FormProblems => moveUnknownToText(problems, names);

const fields = ({ project }: OwnedList, { filled, problems }: TriedMilestone) => [
  input({
    name: 'title',
    label: 'Title',
    value: filled.title ?? '',
    required: true,
    autofocus: true,
    problems,
  }),
  markdownEditor({
    name: 'description',
    label: 'Description',
    value: filled.description ?? '',
    project,
    problems,
  }),
  html`<div class="columns">${input({ name: 'start_date', label: 'Start date', type: 'date', value: filled.start_date ?? '', problems })}${input(
    { name: 'due_date', label: 'Due date', type: 'date', value: filled.due_date ?? '', problems },
  )}</div>`,
];

/** Renders the page of a new milestone. */
export const newMilestoneView = (
  visit: Visit,
  list: OwnedList,
  tried: TriedMilestone = { filled: {}, problems: noProblems },
): View => {
  const given = { action: list.path, submit: 'Create milestone', problems: tried.problems };
  const content = html`<section class="card form-page"><div class="body">${form(visit, given, ...fields(list, tried))}</div></section>`;
  const view = list.view(visit, { title: 'New milestone' }, content);
  return withFormStatus(view, tried.problems);
};

/** Renders the page that edits or deletes a milestone. */
export const editMilestoneView = (
  visit: Visit,
  list: OwnedList,
  row: MilestoneRow,
  tried?: TriedMilestone,
): View => {
  const shown = tried ?? { filled: row, problems: noProblems };
  const path = `${list.path}/${row.iid}`;
  const given = { action: path, submit: 'Save changes', problems: shown.problems };
  const remove = form(visit, { action: `${path}/delete`, submit: 'Delete milestone', danger: true });
  const content = html`<section class="card form-page"><div class="body">${form(visit, given, ...fields(list, shown))}</div></section>
${promotePart(visit, list, { path, word: 'milestone' })}<section class="card danger-zone form-page"><header><h2>Delete this milestone</h2></header><div class="body stack">
<p>Its issues and merge requests are kept, without a milestone. This cannot be undone.</p>
${remove}</div></section>`;
  const view = list.view(visit, { title: 'Edit milestone' }, content);
  return tried === undefined ? view : { ...view, status: 422 };
};
