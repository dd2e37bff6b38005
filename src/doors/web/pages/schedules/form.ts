/** Form of a schedule. */
import type { Static } from 'typebox';
import { boolean, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { Schedule } from '../../../../ci/pipelines/schedules/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { checkbox, form, input, radios } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { fieldText, isTicked, textOrNull } from '../../parts/fields/field_text.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { baseField, guardEdits } from '../../parts/fields/guard_edits.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';

/** Patterns that can be chosen instead of writing one. */
const presets = {
  daily: { cron: '0 4 * * *', label: 'Every day', hint: 'At 4:00' },
  weekly: { cron: '0 4 * * 0', label: 'Every week', hint: 'On Sunday at 4:00' },
  monthly: { cron: '0 4 1 * *', label: 'Every month', hint: 'On the 1st at 4:00' },
} as const;

type Preset = keyof typeof presets | 'custom';
const presetNames: readonly Preset[] = ['daily', 'weekly', 'monthly', 'custom'];

const isPreset = (name: unknown): name is Preset => presetNames.some((one) => one === name);

/** Returns the preset that has a pattern. */
const findPreset = (cron: string): Preset =>
  presetNames.find((name) => name !== 'custom' && presets[name].cron === cron.trim()) ?? 'custom';

export const scheduleFields = {
  /** How the pattern was chosen; absent: it was sent as `cron`. */
  preset: optional(oneOf(presetNames)),
  description: optional(text()),
  ref: optional(text({ maxLength: 1_000 })),
  cron: optional(text()),
  cron_timezone: optional(text()),
  active: boolean({ default: false }),
};

export const editFields = { ...scheduleFields, ...baseField };

type ScheduleValues = {
  preset: Preset;
  description: string;
  ref: string;
  cron: string;
  cron_timezone: string;
  active: boolean;
};

export type ScheduleState = FormState<ScheduleValues>;

export const getBlank = ({ default_branch }: Project): ScheduleValues => ({
  preset: 'daily',
  description: '',
  ref: default_branch ?? '',
  cron: presets.daily.cron,
  cron_timezone: 'UTC',
  active: true,
});

export const fromRecord = ({ description, ref, cron, cron_timezone, active }: Schedule): ScheduleValues => ({
  preset: findPreset(cron),
  description,
  ref,
  cron,
  cron_timezone,
  active: active === 1,
});

export const scheduleGuard = guardEdits({
  word: 'schedule',
  fromRecord,
  labels: {
    description: 'Description',
    ref: 'Branch or tag',
    cron: 'When',
    cron_timezone: 'Time zone',
    active: 'Active',
  },
  normalize: (typed) => ({ ...typed, cron_timezone: textOrNull(typed.cron_timezone) ?? 'UTC' }),
});

/** Returns the pattern of the chosen preset, or what was written. */
const chosenCron = (preset: unknown, written: string): string =>
  isPreset(preset) && preset !== 'custom' ? presets[preset].cron : written;

export const fromSent = (sent: RawParams): ScheduleValues => {
  const { preset } = sent;
  const cron = chosenCron(preset, fieldText(sent['cron']));
  return {
    preset: isPreset(preset) ? preset : findPreset(cron),
    description: fieldText(sent['description']),
    ref: fieldText(sent['ref']),
    cron,
    cron_timezone: fieldText(sent['cron_timezone']),
    active: isTicked(sent['active']),
  };
};

const shape = object(scheduleFields);

export const toEdit = ({
  preset,
  description = '',
  ref = '',
  cron = '',
  cron_timezone = '',
  active,
}: Static<typeof shape>) => ({
  description: description.trim(),
  ref: ref.trim(),
  cron: chosenCron(preset, cron).trim(),
  cron_timezone: textOrNull(cron_timezone) ?? 'UTC',
  active: active ? (1 as const) : (0 as const),
});

export const toProblems = (problems: FormProblems): FormProblems =>
  moveUnknownToText(problems, ['description', 'ref', 'cron', 'cron_timezone']);

export const scheduleForm = (
  visit: Visit,
  { action, submit, base }: { action: string; submit: string; base?: Html },
  { values, problems }: ScheduleState,
): Html =>
  form(
    visit,
    { action, submit, problems },
    input({
      name: 'description',
      label: 'Description',
      value: values.description,
      required: true,
      problems,
    }),
    input({ name: 'ref', label: 'Branch or tag', value: values.ref, required: true, problems }),
    html`<div class="cron-choice">${radios({
      name: 'preset',
      label: 'How often',
      value: values.preset,
      boxes: [
        ...presetNames.flatMap((value) => (value === 'custom' ? [] : [{ value, ...presets[value] }])),
        { value: 'custom', label: 'Custom', hint: 'Use the pattern below' },
      ],
    })}${input({
      name: 'cron',
      label: 'When',
      hint: html`Five fields of cron: minute, hour, day, month, weekday. <code>0 4 * * *</code> is every day at four, <code>30 6 * * 1-5</code> half past six on working days.`,
      value: values.cron,
      problems,
    })}</div>`,
    input({
      name: 'cron_timezone',
      label: 'Time zone',
      hint: 'UTC, or a name such as Europe/Berlin.',
      value: values.cron_timezone,
      problems,
    }),
    checkbox({ name: 'active', label: 'Active', checked: values.active }),
    base ?? null,
  );
