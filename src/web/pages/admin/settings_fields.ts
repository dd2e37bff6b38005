/** One setting on the page: what it means, its control, what is known of it. */
import type { Surroundings } from '../../../settings/checks.ts';
import { controlOf } from '../../../settings/controls.ts';
import type { SettingName } from '../../../settings/fields.ts';
import { type FormProblems, checkbox, checkboxes, hidden, input, select, textArea } from '../../form.ts';
import { type Html, html } from '../../html.ts';
import { moment } from '../../moment.ts';
import { brief } from './brief.ts';
import { type Filled, digestOf, fieldOf, filledOf } from './settings_form.ts';

export type Shown = {
  name: SettingName;
  /** What holds now. */
  value: unknown;
  /** What the form holds: another value where it is shown again. */
  filled: Filled;
  problems: FormProblems;
  around: Surroundings;
  /** Who changed it last, and when; null: nobody ever. */
  last: { by: string | null; at: number } | null;
};

/** What is kept, and is no value any more, has its box all the same: it can only be taken out. */
const boxesOf = (known: readonly (readonly [string, string])[], values: readonly string[]) => [
  ...known.map(([value, label]) => ({ value, label })),
  ...values
    .filter((value) => !known.some(([one]) => one === value))
    .map((value) => ({ value, label: value, hint: 'Not configured any more.' })),
];

const controlFor = ({ name, filled, problems, around }: Shown): Html => {
  const field = fieldOf(name);
  const { label, meaning } = field;
  const control = controlOf(field, around);
  const given = { name, label, hint: meaning, problems };
  const text = typeof filled === 'string' ? filled : '';
  switch (control.kind) {
    case 'flag':
      return checkbox({ ...given, checked: text === '1' });
    case 'number': {
      const { least: min, isWhole } = control;
      return input({ ...given, type: 'number', value: text, min, step: isWhole ? 1 : 'any', required: true });
    }
    case 'choice':
      return select({ ...given, value: text, options: control.choices });
    case 'choices': {
      const values = typeof filled === 'string' ? [] : filled;
      const boxes = boxesOf(control.choices, values);
      return boxes.length > 0
        ? checkboxes({ ...given, values, boxes })
        : html`<div class="field" id="${name}"><p><strong>${label}</strong></p><p class="hint">${meaning}</p><p class="quiet">None is configured.</p></div>
`;
    }
    case 'list':
      return textArea({ ...given, hint: `${meaning} One a line.`, value: text, rows: 4 });
    case 'text':
      return textArea({ ...given, value: text, rows: 4 });
    default:
      return input({ ...given, value: text });
  }
};

const labelOf = (name: SettingName, value: unknown, around: Surroundings): string => {
  const control = controlOf(fieldOf(name), around);
  if (control.kind !== 'choice') return brief(value);
  const filled = filledOf(value, control);
  return control.choices.find(([one]) => one === filled)?.[1] ?? brief(value);
};

const lastPart = ({ last }: Shown): Html => {
  if (last === null) return html`never changed`;
  return html`changed ${moment(last.at)} by ${last.by ?? 'somebody whose account is gone'}`;
};

const facts = (shown: Shown): Html => {
  const { name, value, around } = shown;
  const [now, usual] = [value, fieldOf(name).default].map((one) => labelOf(name, one, around));
  return html`<p class="facts"><code>${name}</code> · now ${now === usual ? now : html`<strong>${now}</strong>`} · default ${usual} · ${lastPart(shown)}</p>`;
};

export const settingPart = (shown: Shown): Html => html`<div class="setting">
${controlFor(shown)}${facts(shown)}${hidden(`seen[${shown.name}]`, digestOf(shown.value))}
</div>
`;
