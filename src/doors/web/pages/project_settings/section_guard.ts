/** Guards the sections of settings pages, whose fields are parameters of the API, against concurrent edits. */
import type { TSchema } from 'typebox';
import type { RawParams } from '../../../../platform/http/params.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { guardEdits } from '../../parts/fields/guard_edits.ts';
import type { Control } from './controls.ts';

/** A submitted form that was refused. */
export type Tried = { key: string; sent: RawParams; problems: FormProblems };

/** The columns of a project or group. */
type Stored = object;

type Schemas = Readonly<Record<string, TSchema>>;

type Values = Record<string, string | boolean>;

/** What decides how a value is compared. */
type Keywords = { 'x-kind'?: string; type?: string };

const isList = (schema: Keywords | undefined): boolean => schema?.['x-kind'] === 'names';

/** Returns the names of a list, such as of topics, as one text: without blanks and repetitions. */
const toNames = (value: unknown): string => {
  const names = [value].flat().flatMap((text) => fieldText(text).split(','));
  const trimmed = names.map((name) => name.trim()).filter((name) => name !== '');
  const groups = Map.groupBy(trimmed, (name) => name.toLowerCase());
  return [...groups.values()].flatMap(([first]) => first ?? []).join(', ');
};

const readValue = (value: unknown, schema: Keywords | undefined): string | boolean => {
  if (isList(schema)) return toNames(value);
  const text = fieldText(value);
  return schema?.type === 'boolean' ? text === '1' : text;
};

/** Returns the stored spelling of lists that differ in case only. */
const toStoredCase = (typed: Values, saved: Values, schemas: Schemas): Values =>
  Object.fromEntries(
    Object.entries(typed).map(([name, value]) => {
      const { [name]: stored = value } = saved;
      const isSame = String(stored).toLowerCase() === String(value).toLowerCase();
      return [name, isList(schemas[name]) && isSame ? stored : value];
    }),
  );

/**
 * Makes the guard of a section.
 * @param schemas parameters that its form can send
 * @param controls those that it has for this visitor, which are compared
 */
const guardSection = (schemas: Schemas, controls: readonly Pick<Control, 'name' | 'label' | 'options'>[]) => {
  // In one order, because the fingerprint depends on it.
  const compared = Object.keys(schemas).flatMap((one) => controls.find(({ name }) => name === one) ?? []);
  const read = (values: Stored): Values =>
    Object.fromEntries(
      compared.map(({ name }) => [name, readValue((values as Record<string, unknown>)[name], schemas[name])]),
    );
  const guard = guardEdits({
    word: 'section',
    fromRecord: read,
    labels: Object.fromEntries(compared.map(({ name, label }) => [name, label])),
    options: () => Object.fromEntries(compared.map(({ name, options }) => [name, options])),
    normalize: (typed, saved) => toStoredCase(typed, saved, schemas),
  });
  return { read, guard };
};

/**
 * Returns the check of an edit. Only fields that the form has for the visitor are compared: those that it sent.
 * @param sent the form as it was sent
 * @param edit the columns that it sets
 */
export const checkSection = (schemas: Schemas, sent: RawParams, edit: Stored) => {
  const names = Object.keys(schemas).filter((name) => sent[name] !== undefined);
  const { read, guard } = guardSection(
    schemas,
    names.map((name) => ({ name, label: name, options: [] })),
  );
  const { base } = sent;
  return guard.check(typeof base === 'string' ? base : undefined, read(edit));
};

/**
 * Renders the parts of a section's form.
 * @param compared what it sends
 * @param refused the form as it was sent; null: it was not
 * @param editPath path of the settings page
 */
export const sectionGuardParts = (
  { schemas, controls }: { schemas: Schemas; controls: readonly Control[] },
  stored: Stored,
  refused: Tried | null,
  editPath: string,
) => {
  const { read, guard } = guardSection(schemas, controls);
  const { sent = {}, problems = { text: null, fields: {} } } = refused ?? {};
  const { base } = sent;
  const values = read({ ...stored, ...sent });
  return guard.parts(stored, { values, problems, ...(typeof base === 'string' && { base }) }, editPath);
};
