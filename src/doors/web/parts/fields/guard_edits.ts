/** Refuses a form whose record somebody else saved since the form was opened, and shows what they saved. */
import { optional, text } from '../../../../platform/http/schema.ts';
import { hidden } from '../form.ts';
import { type Html, html } from '../html.ts';
import { editedMeanwhile, fingerprintValues } from '../timeline/edit_conflicts.ts';
import type { FormState } from './form_page.ts';
import { discardLink, savedMeanwhileCard, submitLabel } from './saved_meanwhile.ts';

/** The field that `EditGuard.parts` renders. Absent: the form replaces whatever is saved. */
export const baseField = { base: optional(text()) };

type Shown = string | boolean | readonly string[] | null | undefined;

type Guarded<Row, Values> = {
  /** `label`, as messages name the record. */
  word: string;
  /** The values of the form for a stored record. It has no secrets, which the form does not show. */
  fromRecord: (row: Row) => Values;
  /** The fields that are compared, with the labels of their controls. */
  labels: { readonly [N in keyof Values]?: string };
};

export type EditGuard<Row, Values> = {
  /** Returns the check of the locked record, for the operation. @param base as the form sent it */
  check: (base: string | undefined) => { check?: (locked: Row) => void };
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

const showValue = (value: unknown): string => {
  if (Array.isArray(value))
    return value
      .map(showValue)
      .filter((one) => one !== '')
      .join(', ');
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : '';
};

/** Makes the guard of an edit form. What it compares is a fingerprint of the values that the form shows. */
export const guardEdits = <Row, Values extends { [N in keyof Values]: Shown }>({
  word,
  fromRecord,
  labels,
}: Guarded<Row, Values>): EditGuard<Row, Values> => {
  const names = Object.keys(labels) as (keyof Values)[];
  const fingerprint = (row: Row): string => {
    const values = fromRecord(row);
    return fingerprintValues(names.map((name) => values[name]));
  };
  return {
    check: (base) =>
      base === undefined
        ? {}
        : {
            check: (locked) => {
              if (base !== fingerprint(locked)) throw editedMeanwhile(word);
            },
          },
    parts: (row, { values: typed, base }, editPath) => {
      const current = fingerprint(row);
      const isConflict = base !== undefined && base !== current;
      const saved = fromRecord(row);
      const compared = names.map((name) => ({
        label: labels[name] ?? '',
        saved: showValue(saved[name]),
        typed: showValue(typed[name]),
      }));
      return {
        base: hidden('base', current),
        submit: submitLabel(isConflict),
        card: isConflict
          ? html`<div class="form-page">${savedMeanwhileCard(compared, discardLink(editPath))}</div>`
          : null,
      };
    },
  };
};
