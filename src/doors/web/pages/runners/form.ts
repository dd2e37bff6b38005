/** Form of a runner. */
import type { Static } from 'typebox';
import { boolean, clearable, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { type RunnerFacts, type RunnerRow, formatTags, parseTags } from '../../../../ci/runners/rules.ts';
import { type FormProblems, checkbox, form, input, problemsOf } from '../../parts/form.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';

const longText = text({ maxLength: 1_024 });

export const filledParams = {
  description: optional(clearable(longText)),
  tags: optional(clearable(text({ maxLength: 20_000 }))),
  maximum_timeout: optional(clearable(integer({ minimum: 0, maximum: 1_000_000_000 }))),
  maintenance_note: optional(clearable(longText)),
  run_untagged: boolean({ default: false }),
  locked: boolean({ default: false }),
  protected_only: boolean({ default: false }),
};

const shape = object(filledParams);
export type Filled = Static<typeof shape>;

export const blank: Filled = { run_untagged: true, locked: false, protected_only: false };

export const filledOf = (runner: RunnerRow): Filled => ({
  description: runner.description,
  tags: parseTags(runner).join(', '),
  maximum_timeout: runner.maximum_timeout,
  maintenance_note: runner.maintenance_note,
  run_untagged: runner.run_untagged === 1,
  locked: runner.locked === 1,
  protected_only: runner.access_level === 'ref_protected',
});

const textOrNull = (value: string | null | undefined): string | null =>
  value === undefined || value === null || value.trim() === '' ? null : value.trim();

const tagsIn = (value: string | null | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

export const factsOf = (given: Filled): Partial<RunnerFacts> => ({
  description: textOrNull(given.description),
  maintenance_note: textOrNull(given.maintenance_note),
  tag_list: formatTags(tagsIn(given.tags)),
  maximum_timeout: given.maximum_timeout === 0 ? null : (given.maximum_timeout ?? null),
  run_untagged: given.run_untagged ? 1 : 0,
  locked: given.locked ? 1 : 0,
  access_level: given.protected_only ? 'ref_protected' : 'not_protected',
});

/** Converts a failure to problems of the form's fields; null if it is not about the input. */
export const runnerProblems = (error: unknown): FormProblems | null => {
  const problems = problemsOf(error);
  if (problems === null) return null;
  const { tags_list: tags, ...others } = problems.fields;
  return { ...problems, fields: tags === undefined ? others : { ...others, tags } };
};

export type Tried = { given: Filled; problems: FormProblems };

export const runnerForm = (
  visit: Visit,
  { action, submit }: { action: string; submit: string },
  { given, problems }: Tried,
): Html =>
  form(
    visit,
    { action, submit, problems },
    input({ name: 'description', label: 'Description', value: given.description ?? null, problems }),
    input({
      name: 'tags',
      label: 'Tags',
      hint: 'Separated by commas. The runner takes jobs if it has all of their tags.',
      value: given.tags ?? null,
      problems,
    }),
    checkbox({ name: 'run_untagged', label: 'Also takes jobs without tags', checked: given.run_untagged }),
    checkbox({
      name: 'protected_only',
      label: 'Only for protected branches and tags',
      checked: given.protected_only,
    }),
    checkbox({
      name: 'locked',
      label: 'Locked: cannot be enabled for other projects',
      checked: given.locked,
    }),
    input({
      name: 'maximum_timeout',
      label: 'Maximum job timeout (seconds)',
      hint: 'At least 600. Default: the timeout of the project.',
      type: 'number',
      min: 0,
      value: given.maximum_timeout ?? null,
      problems,
    }),
    input({ name: 'maintenance_note', label: 'Note', value: given.maintenance_note ?? null, problems }),
  );
