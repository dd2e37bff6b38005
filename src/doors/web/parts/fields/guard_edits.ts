/** Refuses a form whose record somebody else saved since the form was opened, and shows what they saved. */
import { optional, text } from '../../../../platform/http/schema.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { editedMeanwhile, fingerprintValues } from '../timeline/edit_conflicts.ts';
import type { FormState } from './form_page.ts';
import {
  type SavedValue,
  discardLink,
  isDifferent,
  savedMeanwhileCard,
  submitLabel,
} from './saved_meanwhile.ts';

/** The field that `EditGuard.parts` renders. Absent: the form replaces whatever is saved. */
export const baseField = { base: optional(text()) };

type Shown = string | boolean | readonly string[] | null | undefined;

/** Values that can be chosen, with their labels. */
export type Options = readonly (readonly [value: string, label: string])[];

type Choices<Values> = { readonly [N in keyof Values]?: Options };

type Guarded<Row, Values> = {
  /** `label`, as messages name the record. */
  word: string;
  /** The values of the form for a stored record. It has no secrets, which the form does not show. */
  fromRecord: (row: Row) => Values;
  /** The fields that are compared, with the labels of their controls. */
  labels: { readonly [N in keyof Values]?: string };
  /** The labels of values that can be chosen. */
  options?: (row: Row) => Choices<Values>;
  /** Returns the values of a sent form as the operation stores them. Default: as they were sent. */
  normalize?: (typed: Values, saved: Values) => Values;
};

export type EditGuard<Row, Values> = {
  /**
   * Returns the check of the locked record, for the operation. It passes if the record already has the values of the
   * form, as when the form is sent twice.
   * @param base as the form sent it
   */
  check: (base: string | undefined, typed: Values) => { check?: (locked: Row) => void };
  /**
   * Renders the parts of an edit form: the hidden field, the label of the button, and the card of a conflict.
   * @param editPath path of the form with the saved values
   */
  parts: (
    row: Row,
    state: FormState<Values>,
    editPath: string,
  ) => { base: Html; submit: string; card: Html | null };
};

const showValue = (value: unknown, options: Options = []): string => {
  if (Array.isArray(value))
    return value
      .map((one) => showValue(one, options))
      .filter((one) => one !== '')
      .join(', ');
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value !== 'string') return '';
  return options.find(([one]) => one === value)?.[1] ?? value;
};

/** Makes the guard of an edit form. What it compares is a fingerprint of the values that the form shows. */
export const guardEdits = <Row, Values extends { [N in keyof Values]: Shown }>({
  word,
  fromRecord,
  labels,
  options,
  normalize = (typed) => typed,
}: Guarded<Row, Values>): EditGuard<Row, Values> => {
  const names = Object.keys(labels) as (keyof Values)[];
  const fingerprint = (row: Row): string => {
    const values = fromRecord(row);
    return fingerprintValues(names.map((name) => values[name]));
  };
  const findDifferences = (row: Row, sent: Values): SavedValue[] => {
    const saved = fromRecord(row);
    const typed = normalize(sent, saved);
    const choices: Choices<Values> = options?.(row) ?? {};
    return names
      .map((name) => ({
        label: labels[name] ?? '',
        saved: showValue(saved[name]),
        typed: showValue(typed[name]),
        shown: showValue(saved[name], choices[name]),
      }))
      .filter(isDifferent);
  };
  return {
    check: (base, typed) =>
      base === undefined
        ? {}
        : {
            check: (locked) => {
              if (base === fingerprint(locked)) return;
              if (findDifferences(locked, typed).length > 0) throw editedMeanwhile(word);
            },
          },
    parts: (row, { values, base }, editPath) => {
      const current = fingerprint(row);
      const differences = base === undefined || base === current ? [] : findDifferences(row, values);
      const isConflict = differences.length > 0;
      return {
        base: hidden('base', current),
        submit: submitLabel(isConflict),
        card: isConflict
          ? html`<div class="form-page">${savedMeanwhileCard(differences, discardLink(editPath))}</div>`
          : null,
      };
    },
  };
};
