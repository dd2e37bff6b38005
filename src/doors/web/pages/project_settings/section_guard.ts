/** Guards the sections of settings pages, whose fields are parameters of the API, against concurrent edits. */
import type { TSchema } from 'typebox';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { FormProblems } from '../../parts/form.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { guardEdits } from '../../parts/fields/guard_edits.ts';

/** A submitted form that was refused. */
export type Tried = { key: string; sent: RawParams; problems: FormProblems };

/** The columns of a project or group. */
type Stored = object;

/** `only_protected_branches`: Only protected branches. */
const toLabel = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

/** Lists, such as topics, have one field. */
const toText = (value: unknown): string =>
  Array.isArray(value) && value[0] !== '0' ? value.join(', ') : fieldText(value);

/**
 * Makes the guard of a section.
 * @param schemas parameters that its form sends
 */
const guardSection = (schemas: Readonly<Record<string, TSchema>>) => {
  const read = (values: Stored): Record<string, string | boolean> =>
    Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => {
        const value = toText((values as Record<string, unknown>)[name]);
        return [name, (schema as { type?: string }).type === 'boolean' ? value === '1' : value];
      }),
    );
  const labels = Object.fromEntries(Object.keys(schemas).map((name) => [name, toLabel(name)]));
  return { read, guard: guardEdits({ word: 'section', fromRecord: read, labels }) };
};

/**
 * Returns the check of an edit.
 * @param base as the form sent it
 * @param edit the columns that it sets
 */
export const checkSection = (schemas: Readonly<Record<string, TSchema>>, base: unknown, edit: Stored) => {
  const { read, guard } = guardSection(schemas);
  return guard.check(typeof base === 'string' ? base : undefined, read(edit));
};

/**
 * Renders the parts of a section's form.
 * @param refused the form as it was sent; null: it was not
 * @param editPath path of the settings page
 */
export const sectionGuardParts = (
  schemas: Readonly<Record<string, TSchema>>,
  stored: Stored,
  refused: Tried | null,
  editPath: string,
) => {
  const { read, guard } = guardSection(schemas);
  const { sent = {}, problems = { text: null, fields: {} } } = refused ?? {};
  const { base } = sent;
  const values = read({ ...stored, ...sent });
  return guard.parts(stored, { values, problems, ...(typeof base === 'string' && { base }) }, editPath);
};
