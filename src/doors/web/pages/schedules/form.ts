/** Form of a schedule. */
import type { Static } from 'typebox';
import { boolean, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { Schedule } from '../../../../ci/pipelines/schedules/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type FormProblems, checkbox, form, input, radios } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
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
const presetOf = (cron: string): Preset =>
  presetNames.find((name) => name !== 'custom' && presets[name].cron === cron.trim()) ?? 'custom';

export const filledParams = {
  /** How the pattern was chosen; absent: it was sent as `cron`. */
  preset: optional(oneOf(presetNames)),
  description: optional(text()),
  ref: optional(text({ maxLength: 1_000 })),
  cron: optional(text()),
  cron_timezone: optional(text()),
  active: boolean({ default: false }),
};

const shape = object(filledParams);
export type Filled = Static<typeof shape>;
export type Tried = { given: Filled; problems: FormProblems };

export const blankOf = ({ default_branch }: Project): Filled => ({
  ref: default_branch ?? '',
  cron: '0 4 * * *',
  cron_timezone: 'UTC',
  active: true,
});

export const filledOf = (schedule: Schedule): Filled => ({ ...schedule, active: schedule.active === 1 });

/** Returns the pattern of the chosen preset, or what was written. */
const chosenCron = (preset: unknown, written: string): string =>
  isPreset(preset) && preset !== 'custom' ? presets[preset].cron : written;

const textIn = (raw: unknown): string => (typeof raw === 'string' ? raw : '');

/** Input to show again when the form was invalid. */
export const asTyped = (sent: RawParams): Filled => ({
  description: textIn(sent['description']),
  ref: textIn(sent['ref']),
  cron: chosenCron(sent['preset'], textIn(sent['cron'])),
  cron_timezone: textIn(sent['cron_timezone']),
  // A ticked box sends 0 and 1.
  active: [sent['active']].flat().at(-1) === '1',
});

export const valuesOf = ({
  preset,
  description = '',
  ref = '',
  cron = '',
  cron_timezone = '',
  active,
}: Filled) => ({
  description: description.trim(),
  ref: ref.trim(),
  cron: chosenCron(preset, cron).trim(),
  cron_timezone: cron_timezone.trim() === '' ? 'UTC' : cron_timezone.trim(),
  active: active ? (1 as const) : (0 as const),
});

export const scheduleProblems = (problems: FormProblems): FormProblems =>
  moveUnknownToText(problems, ['description', 'ref', 'cron', 'cron_timezone']);

export const scheduleForm = (
  visit: Visit,
  { action, submit }: { action: string; submit: string },
  { given, problems }: Tried,
): Html =>
  form(
    visit,
    { action, submit, problems },
    input({
      name: 'description',
      label: 'Description',
      value: given.description ?? '',
      required: true,
      problems,
    }),
    input({ name: 'ref', label: 'Branch or tag', value: given.ref ?? '', required: true, problems }),
    html`<div class="cron-choice">${radios({
      name: 'preset',
      label: 'How often',
      value: given.preset ?? presetOf(given.cron ?? ''),
      boxes: [
        ...presetNames.flatMap((value) => (value === 'custom' ? [] : [{ value, ...presets[value] }])),
        { value: 'custom', label: 'Custom', hint: 'Use the pattern below' },
      ],
    })}${input({
      name: 'cron',
      label: 'When',
      hint: html`Cron syntax: minute, hour, day, month, weekday. Example: <code>0 4 * * *</code> runs daily at 04:00; <code>30 6 * * 1-5</code> at 06:30 on weekdays.`,
      value: given.cron ?? '',
      problems,
    })}</div>`,
    input({
      name: 'cron_timezone',
      label: 'Time zone',
      hint: 'UTC, or a name such as Europe/Berlin.',
      value: given.cron_timezone ?? '',
      problems,
    }),
    checkbox({ name: 'active', label: 'Active', checked: given.active }),
  );
