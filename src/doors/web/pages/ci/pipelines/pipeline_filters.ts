/** Filters of the pipeline list: the same as in the API. They are kept in the URL. */
import type { Static } from 'typebox';
import { sources, statuses } from '../../../../../ci/pipelines/list.ts';
import { clearable, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { capitalize } from '../../../../../platform/unicode.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { hidden, input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { statusWord } from '../../../parts/status_badge.ts';
import { projectSuggestions } from '../../../parts/fields/suggestions.ts';

export const filterParams = {
  status: optional(clearable(oneOf(statuses))),
  source: optional(clearable(oneOf(sources))),
  ref: optional(clearable(text({ maxLength: 1_000 }))),
  username: optional(clearable(text())),
  name: optional(clearable(text())),
};

const shape = object(filterParams);
type Query = Partial<Static<typeof shape>>;

export type Filters = {
  status?: (typeof statuses)[number];
  source?: (typeof sources)[number];
  ref?: string;
  username?: string;
  name?: string;
};

/** Returns the filters that are set. */
export const toFilters = ({ status, source, ref, username, name }: Query): Filters => ({
  ...((status ?? null) !== null && { status: status as (typeof statuses)[number] }),
  ...((source ?? null) !== null && { source: source as (typeof sources)[number] }),
  ...Object.fromEntries(
    Object.entries({ ref, username, name }).flatMap(([key, value]) => {
      const trimmed = value?.trim() ?? '';
      return trimmed === '' ? [] : [[key, trimmed]];
    }),
  ),
});

/** The statuses offered in the form: those that the API can return. */
const offeredStatuses = [
  'created',
  'pending',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
  'manual',
];

const anyOption = ['', 'Any'] as const;

const describeSource = (source: string): string => {
  const words = source.replaceAll('_', ' ');
  return words === 'api' ? 'API' : capitalize(words);
};

export const filterForm = (
  path: string,
  { id }: Project,
  { scope, status, source, ref, username, name }: Filters & { scope?: string | undefined },
): Html => html`<form method="get" action="${path}" class="filter">${scope !== undefined && hidden('scope', scope)}
${select({ name: 'status', label: 'Status', value: status ?? '', options: [anyOption, ...offeredStatuses.map((one) => [one, statusWord(one)] as const)] })}
${select({ name: 'source', label: 'Source', value: source ?? '', options: [anyOption, ...sources.map((one) => [one, describeSource(one)] as const)] })}
${input({ name: 'ref', id: 'filter_ref', label: 'Branch or tag', value: ref ?? '', suggestions: projectSuggestions(id, 'branches') })}
${input({ name: 'username', label: 'Triggered by', value: username ?? '', suggestions: projectSuggestions(id, 'members') })}
${input({ name: 'name', label: 'Name', value: name ?? '' })}
<div class="buttons"><button>Filter</button></div>
</form>
`;
