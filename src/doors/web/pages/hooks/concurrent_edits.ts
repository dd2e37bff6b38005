/** What the form of a hook compares with the hook as it is saved. Secrets are not compared: the form does not show them. */
import type { HookOwner } from '../../../../outgoing/hooks/owners.ts';
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { guardEdits } from '../../parts/fields/guard_edits.ts';
import type { Visit } from '../../page.ts';
import { type HookState, type HookValues, fromRecord, strategies } from './form.ts';
import type { KeyValueRow } from './key_value_rows.ts';
import { eventLabels, formatLabels, listEvents } from './placed_hook.ts';

/** Returns the names of the rows that are not to be removed, in one order. */
const keptKeys = (rows: readonly KeyValueRow[]): string[] =>
  rows
    .filter(({ isRemoved }) => !isRemoved)
    .map(({ key }) => key)
    .toSorted();

/** Returns the values of the form as texts, without secrets. Flags without a box in the form are left out. */
const toCompared = (owner: HookOwner, { texts, flags, variables, headers }: HookValues) => ({
  ...texts,
  events: listEvents(owner).filter((name) => flags.has(name)),
  enable_ssl_verification: flags.has('enable_ssl_verification'),
  variables: keptKeys(variables),
  headers: keptKeys(headers),
});

type Compared = ReturnType<typeof toCompared>;

/** Returns the values as the operation stores them: a filter and a pattern need each other. */
const normalize = (typed: Compared): Compared => {
  const { branch_filter_strategy, push_events_branch_filter } = typed;
  const isFiltered = branch_filter_strategy !== 'all_branches' && push_events_branch_filter.trim() !== '';
  return isFiltered
    ? typed
    : { ...typed, branch_filter_strategy: 'all_branches', push_events_branch_filter: '' };
};

const labels = {
  url: 'URL',
  name: 'Name',
  description: 'Description',
  events: 'Events',
  branch_filter_strategy: 'Branches whose pushes are sent',
  push_events_branch_filter: 'Pattern or regular expression',
  enable_ssl_verification: 'Verify the certificate of the receiver',
  headers: 'Custom headers',
  variables: 'URL variables',
  format: 'Format',
  custom_webhook_template: 'Payload template',
} as const;

const options = {
  events: Object.entries(eventLabels),
  branch_filter_strategy: strategies,
  format: Object.entries(formatLabels),
};

/** Where the hook is edited. */
type Place = { visit: Visit; owner: HookOwner };

const guardOf = ({ visit, owner }: Place) =>
  guardEdits({
    word: 'hook',
    fromRecord: (hook: HookRow) => toCompared(owner, fromRecord(visit, hook)),
    labels,
    options: () => options,
    normalize,
  });

/** @throws Failure 409 if the locked hook differs from the form that was opened, and from the one that was sent */
export const checkHook = (
  place: Place,
  { base, typed }: { base: string | undefined; typed: HookValues },
  locked: HookRow,
): void => guardOf(place).check(base, toCompared(place.owner, typed)).check?.(locked);

/** Renders the parts of the form that edits a hook. */
export const guardParts = (place: Place, hook: HookRow, state: HookState, editPath: string) =>
  guardOf(place).parts(hook, { ...state, values: toCompared(place.owner, state.values) }, editPath);
