/** Form of a runner. */
import type { Static } from 'typebox';
import type { RawParams } from '../../../../platform/http/params.ts';
import { boolean, clearable, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { type RunnerFacts, type RunnerRow, formatTags, parseTags } from '../../../../ci/runners/rules.ts';
import { checkbox, form, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { fieldText, isTicked, textOrNull } from '../../parts/fields/field_text.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';

const longText = text({ maxLength: 1_024 });

export const runnerFields = {
  description: optional(clearable(longText)),
  tags: optional(clearable(text({ maxLength: 20_000 }))),
  maximum_timeout: optional(clearable(integer({ minimum: 0, maximum: 1_000_000_000 }))),
  maintenance_note: optional(clearable(longText)),
  run_untagged: boolean({ default: false }),
  locked: boolean({ default: false }),
  protected_only: boolean({ default: false }),
};

type RunnerValues = {
  description: string;
  tags: string;
  maximum_timeout: string;
  maintenance_note: string;
  run_untagged: boolean;
  locked: boolean;
  protected_only: boolean;
};

export type RunnerState = FormState<RunnerValues>;

export const blank: RunnerValues = {
  description: '',
  tags: '',
  maximum_timeout: '',
  maintenance_note: '',
  run_untagged: true,
  locked: false,
  protected_only: false,
};

export const fromRecord = (runner: RunnerRow): RunnerValues => ({
  description: fieldText(runner.description),
  tags: parseTags(runner).join(', '),
  maximum_timeout: fieldText(runner.maximum_timeout),
  maintenance_note: fieldText(runner.maintenance_note),
  run_untagged: runner.run_untagged === 1,
  locked: runner.locked === 1,
  protected_only: runner.access_level === 'ref_protected',
});

export const fromSent = (sent: RawParams): RunnerValues => ({
  description: fieldText(sent['description']),
  tags: fieldText(sent['tags']),
  maximum_timeout: fieldText(sent['maximum_timeout']),
  maintenance_note: fieldText(sent['maintenance_note']),
  run_untagged: isTicked(sent['run_untagged']),
  locked: isTicked(sent['locked']),
  protected_only: isTicked(sent['protected_only']),
});

const tagsIn = (value: string | null | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

const shape = object(runnerFields);

export const toEdit = (params: Static<typeof shape>): Partial<RunnerFacts> => ({
  description: textOrNull(params.description),
  maintenance_note: textOrNull(params.maintenance_note),
  tag_list: formatTags(tagsIn(params.tags)),
  maximum_timeout: params.maximum_timeout === 0 ? null : (params.maximum_timeout ?? null),
  run_untagged: params.run_untagged ? 1 : 0,
  locked: params.locked ? 1 : 0,
  access_level: params.protected_only ? 'ref_protected' : 'not_protected',
});

export const toProblems = (problems: FormProblems): FormProblems => {
  const { tags_list: tags, ...others } = problems.fields;
  return { ...problems, fields: tags === undefined ? others : { ...others, tags } };
};

export const runnerForm = (
  visit: Visit,
  { action, submit }: { action: string; submit: string },
  { values, problems }: RunnerState,
): Html =>
  form(
    visit,
    { action, submit, problems },
    input({ name: 'description', label: 'Description', value: values.description, problems }),
    input({
      name: 'tags',
      label: 'Tags',
      hint: 'Separated by commas. The runner takes jobs if it has all of their tags.',
      value: values.tags,
      problems,
    }),
    checkbox({ name: 'run_untagged', label: 'Also takes jobs without tags', checked: values.run_untagged }),
    checkbox({
      name: 'protected_only',
      label: 'Only for protected branches and tags',
      checked: values.protected_only,
    }),
    checkbox({
      name: 'locked',
      label: 'Locked: cannot be enabled for other projects',
      checked: values.locked,
    }),
    input({
      name: 'maximum_timeout',
      label: 'Maximum job timeout (seconds)',
      hint: 'At least 600. Default: the timeout of the project.',
      type: 'number',
      min: 0,
      value: values.maximum_timeout,
      problems,
    }),
    input({ name: 'maintenance_note', label: 'Note', value: values.maintenance_note, problems }),
  );
