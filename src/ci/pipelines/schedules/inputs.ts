/** Inputs of a schedule's pipelines, stored as one JSON object and changed by name. */
import { invalid } from '../../../platform/errors.ts';
import { parseInputs } from '../creation/inputs.ts';

type InputChange = { name: string; value: unknown; isRemoved: boolean };

const invalidInputs = (text: string) => invalid({ inputs: [text] });

const parseChange = (item: unknown): InputChange => {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidInputs('is invalid');
  const { name, value, destroy = false } = item as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') throw invalidInputs('name is missing');
  const isRemoved = destroy === true || destroy === 'true' || destroy === '1';
  if (!isRemoved && value === undefined)
    throw invalidInputs(`${JSON.stringify(name.slice(0, 255))} has no value`);
  return { name, value, isRemoved };
};

const toItems = (raw: object): unknown[] => {
  if (Array.isArray(raw)) return raw as unknown[];
  const keys = Object.keys(raw);
  // A form sends `inputs[0][name]=...`; otherwise values by name, as in `POST /projects/:id/pipeline`.
  return keys.every((key) => /^\d+$/.test(key))
    ? Object.values(raw)
    : Object.entries(raw).map(([name, value]) => ({ name, value }));
};

/**
 * Parses the parameter: an array of `{ name, value }` or `{ name, destroy: true }`, or values by name.
 * @throws Failure 400
 */
export const parseInputChanges = (raw: unknown): InputChange[] => {
  if (raw === undefined || raw === null || raw === '') return [];
  if (typeof raw !== 'object') throw invalidInputs('is invalid');
  return toItems(raw).map(parseChange);
};

/** Returns the values by name; null if there are none. */
export const parseStoredInputs = ({ inputs }: { inputs: string | null }): Record<string, unknown> | null =>
  inputs === null ? null : (JSON.parse(inputs) as Record<string, unknown>);

/**
 * Applies the changes and returns the JSON to store.
 * @throws Failure 400 for an invalid value or too many inputs
 */
export const applyInputChanges = (
  schedule: { inputs: string | null },
  changes: readonly InputChange[],
): string | null => {
  const values = new Map(Object.entries(parseStoredInputs(schedule) ?? {}));
  for (const { name, value, isRemoved } of changes) {
    if (isRemoved) values.delete(name);
    else values.set(name, value);
  }
  const inputs = parseInputs(Object.fromEntries(values));
  return inputs === null ? null : JSON.stringify(inputs);
};
