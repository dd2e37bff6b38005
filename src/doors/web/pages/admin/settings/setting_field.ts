/** Renders one setting: its meaning, its control, and who changed it last. */
import type { SettingContext } from '../../../../../core/settings/value_checks.ts';
import { toControl } from '../../../../../core/settings/form_controls.ts';
import type { SettingName } from '../../../../../core/settings/fields.ts';
import { checkbox, checkboxes, hidden, input, select, textArea } from '../../../parts/form.ts';
import type { FormProblems } from '../../../parts/form_problems.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment } from '../../../parts/timestamp.ts';
import { formatValue } from '../format_value.ts';
import { type Filled, digestOf, fieldOf, filledOf } from './read_form.ts';

export type Shown = {
  name: SettingName;
  /** The current value. */
  value: unknown;
  /** Content of the control; differs from the value when the form is shown again. */
  filled: Filled;
  problems: FormProblems;
  around: SettingContext;
  /** Last change; null: never changed. */
  last: { by: string | null; at: number } | null;
};

/** Adds checkboxes for stored values that are not configured, so that they can be removed. */
const boxesOf = (known: readonly (readonly [string, string])[], values: readonly string[]) => [
  ...known.map(([value, label]) => ({ value, label })),
  ...values
    .filter((value) => !known.some(([one]) => one === value))
    .map((value) => ({ value, label: value, hint: 'Not configured.' })),
];

const controlFor = ({ name, filled, problems, around }: Shown): Html => {
  const field = fieldOf(name);
  const { label, meaning } = field;
  const control = toControl(field, around);
  const shared = { name, label, hint: meaning, problems };
  const text = typeof filled === 'string' ? filled : '';
  switch (control.kind) {
    case 'flag':
      return checkbox({ ...shared, checked: text === '1' });
    case 'number': {
      const { least: min, isWhole } = control;
      return input({
        ...shared,
        type: 'number',
        value: text,
        min,
        step: isWhole ? 1 : 'any',
        required: true,
      });
    }
    case 'choice':
      return select({ ...shared, value: text, options: control.choices });
    case 'choices': {
      const values = typeof filled === 'string' ? [] : filled;
      const boxes = boxesOf(control.choices, values);
      return boxes.length > 0
        ? checkboxes({ ...shared, values, boxes })
        : html`<div class="field" id="${name}"><p><strong>${label}</strong></p><p class="hint">${meaning}</p><p class="quiet">None is configured.</p></div>
`;
    }
    case 'list':
      return textArea({ ...shared, hint: `${meaning} One per line.`, value: text, rows: 4 });
    case 'text':
      return textArea({ ...shared, value: text, rows: 4 });
    default:
      return input({ ...shared, value: text });
  }
};

const labelOf = (name: SettingName, value: unknown, around: SettingContext): string => {
  const control = toControl(fieldOf(name), around);
  if (control.kind !== 'choice') return formatValue(value);
  const filled = filledOf(value, control);
  return control.choices.find(([one]) => one === filled)?.[1] ?? formatValue(value);
};

const lastPart = ({ last }: Shown): Html => {
  if (last === null) return html`never changed`;
  return html`changed ${moment(last.at)} by ${last.by ?? 'a deleted user'}`;
};

const facts = (shown: Shown): Html => {
  const { name, value, around } = shown;
  const [now, usual] = [value, fieldOf(name).default].map((one) => labelOf(name, one, around));
  return html`<p class="setting-values"><code>${name}</code> · now ${now === usual ? now : html`<strong>${now}</strong>`} · default ${usual} · ${lastPart(shown)}</p>`;
};

export const settingPart = (shown: Shown): Html => html`<div class="setting">
${controlFor(shown)}${facts(shown)}${hidden(`seen[${shown.name}]`, digestOf(shown.value))}
</div>
`;
