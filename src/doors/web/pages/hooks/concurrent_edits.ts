/** What the form of a hook compares with the hook as it is saved. Secrets are not compared: the form does not show them. */
import { eventFlagNames } from '../../../../outgoing/hooks/event_flags.ts';
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { guardEdits } from '../../parts/fields/guard_edits.ts';
import type { Visit } from '../../page.ts';
import { type HookState, type HookValues, fromRecord } from './form.ts';
import { eventLabels, formatLabels } from './placed_hook.ts';

/** Returns the values of the form as texts, without secrets. */
const toCompared = ({ texts, flags, variables, headers }: HookValues) => ({
  ...texts,
  format: formatLabels[texts.format as keyof typeof formatLabels] ?? texts.format,
  events: eventFlagNames.filter((name) => flags.has(name)).map((name) => eventLabels[name] ?? name),
  enable_ssl_verification: flags.has('enable_ssl_verification'),
  variables: variables.map(({ key }) => key),
  headers: headers.map(({ key }) => key),
});

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

const guardOf = (visit: Visit) =>
  guardEdits({
    word: 'hook',
    fromRecord: (hook: HookRow) => toCompared(fromRecord(visit, hook)),
    labels,
  });

/** Returns the check of an edit. */
export const checkHook = (visit: Visit, base: string | undefined, locked: HookRow): void =>
  guardOf(visit).check(base).check?.(locked);

/** Renders the parts of the form that edits a hook. */
export const guardParts = (visit: Visit, hook: HookRow, state: HookState, editPath: string) =>
  guardOf(visit).parts(hook, { ...state, values: toCompared(state.values) }, editPath);
