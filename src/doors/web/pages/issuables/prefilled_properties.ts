/** Reads the properties that the address of a form for a new issue or merge request fills, by GitLab's names. */
import { fieldText } from '../../parts/fields/field_text.ts';

export type PrefilledProperties = {
  /** Names. */
  labels: string[];
  label_ids: number[];
  assignee_ids: number[];
  reviewer_ids: number[];
  milestone_id: number | null;
};

/** Values of one property. */
const maxValues = 100;

/** Reads `x[]=1&x[]=2` and `x=1,2`. */
const readList = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : fieldText(value).split(','))
    .map((one) => fieldText(one).trim())
    .filter((text) => text !== '')
    .slice(0, maxValues);

const readIds = (value: unknown): number[] =>
  readList(value)
    .flatMap((text) => text.split(','))
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0);

/** @param nested the values of `issue[...]` or `merge_request[...]`; what is not a value of its kind is left out */
export const readPrefilledProperties = (nested: Readonly<Record<string, unknown>>): PrefilledProperties => ({
  labels: readList(nested['labels']),
  label_ids: readIds(nested['label_ids']),
  assignee_ids: [...new Set([...readIds(nested['assignee_ids']), ...readIds(nested['assignee_id'])])],
  reviewer_ids: readIds(nested['reviewer_ids']),
  milestone_id: readIds(nested['milestone_id'])[0] ?? null,
});

/** Returns the same properties as parameters of an address. @param noun `issue` or `merge_request` */
export const prefilledParams = (
  noun: string,
  { milestone_id, ...lists }: PrefilledProperties,
): Record<string, string> =>
  Object.fromEntries([
    ...Object.entries(lists)
      .filter(([, values]) => values.length > 0)
      .map(([name, values]) => [`${noun}[${name}]`, values.join(',')] as const),
    ...(milestone_id === null ? [] : [[`${noun}[milestone_id]`, String(milestone_id)] as const]),
  ]);
