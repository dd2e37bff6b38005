/** Form of a hook. */
import type { Static, TUnsafe } from 'typebox';
import type { EventFlag } from '../../../../outgoing/hooks/event_flags.ts';
import {
  branchFilterStrategies,
  eventFlagNames,
  hookFormats,
} from '../../../../outgoing/hooks/event_flags.ts';
import type { HookOwner } from '../../../../outgoing/hooks/owners.ts';
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import { unsealHook } from '../../../../outgoing/hooks/secrets.ts';
import type { HookEdit } from '../../../../outgoing/hooks/hook_columns.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { boolean, longText, object, oneOf, optional, raw, text } from '../../../../platform/http/schema.ts';
import { checkbox, form, input, select, textArea } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { type KeyValueRow, readRows, toParameter } from './key_value_rows.ts';
import { eventHints, eventLabels, formatLabels, hasHiddenUrl, listEvents } from './placed_hook.ts';
import { addLostSecrets, secretFields, secretNames, secretRows } from './secret_fields.ts';
import { fieldText, isTicked } from '../../parts/fields/field_text.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { baseField } from '../../parts/fields/guard_edits.ts';

const eventFields = Object.fromEntries(
  eventFlagNames.map((name) => [name, boolean({ default: false })]),
) as Record<EventFlag, TUnsafe<boolean>>;

export const hookFields = {
  url: optional(text({ maxLength: 2_048 })),
  name: optional(text()),
  description: optional(text({ maxLength: 2_048 })),
  token: optional(text()),
  remove_token: boolean({ default: false }),
  signing_token: optional(text()),
  remove_signing_token: boolean({ default: false }),
  ...eventFields,
  branch_filter_strategy: oneOf(branchFilterStrategies, { default: 'all_branches' }),
  push_events_branch_filter: optional(text({ maxLength: 1_000 })),
  enable_ssl_verification: boolean({ default: false }),
  custom_webhook_template: optional(longText()),
  format: oneOf(hookFormats, { default: 'json' }),
  url_variables: optional(raw('rows')),
  custom_headers: optional(raw('rows')),
};

export const editFields = { ...hookFields, ...baseField };

const textNames = [
  'url',
  'name',
  'description',
  'branch_filter_strategy',
  'push_events_branch_filter',
  'custom_webhook_template',
  'format',
] as const;

type TextName = (typeof textNames)[number];

export type HookValues = {
  texts: Record<TextName, string>;
  flags: ReadonlySet<string>;
  variables: KeyValueRow[];
  headers: KeyValueRow[];
  /** Names of hidden fields that have a stored value: secrets, and `url` of a chat. */
  stored: ReadonlySet<string>;
  /** Names of secrets that were typed. A refused form has lost them, because no page shows a secret. */
  typed: ReadonlySet<string>;
};

export type HookState = FormState<HookValues>;

const emptyTexts: HookValues['texts'] = {
  url: '',
  name: '',
  description: '',
  branch_filter_strategy: 'all_branches',
  push_events_branch_filter: '',
  custom_webhook_template: '',
  format: 'json',
};

/** The form of a new hook. */
export const getBlank = ({ type }: HookOwner): HookValues => ({
  texts: emptyTexts,
  flags: new Set([
    'enable_ssl_verification',
    type === 'instance' ? 'repository_update_events' : 'push_events',
  ]),
  variables: [],
  headers: [],
  stored: new Set(),
  typed: new Set(),
});

const storedRows = (values: object): KeyValueRow[] =>
  Object.keys(values).map((key) => ({ key, value: '', isStored: true, isRemoved: false }));

const storedSecrets = (hook: HookRow | null): Set<string> =>
  new Set([
    ...secretNames.filter((name) => hook !== null && hook[`sealed_${name}`] !== null),
    ...(hook !== null && hasHiddenUrl(hook) ? ['url'] : []),
  ]);

/** The form of a stored hook, without its secrets. */
export const fromRecord = ({ call }: Visit, hook: HookRow): HookValues => {
  const { urlVariables, headers } = unsealHook(call.platform, hook);
  return {
    texts: {
      url: hasHiddenUrl(hook) ? '' : hook.url,
      name: hook.name ?? '',
      description: hook.description ?? '',
      branch_filter_strategy:
        hook.push_events_branch_filter === null ? 'all_branches' : hook.branch_filter_strategy,
      push_events_branch_filter: hook.push_events_branch_filter ?? '',
      custom_webhook_template: hook.custom_webhook_template ?? '',
      format: hook.format,
    },
    flags: new Set([
      ...eventFlagNames.filter((name) => hook[name] === 1),
      ...(hook.enable_ssl_verification === 1 ? ['enable_ssl_verification'] : []),
    ]),
    variables: storedRows(urlVariables),
    headers: storedRows(headers),
    stored: storedSecrets(hook),
    typed: new Set(),
  };
};

const flagNames = [
  ...eventFlagNames,
  'enable_ssl_verification',
  ...secretNames.map((name) => `remove_${name}`),
];

/** Leaves out the secrets. @param hook null: a new one */
export const fromSent = (sent: RawParams, hook: HookRow | null): HookValues => ({
  texts: {
    ...emptyTexts,
    ...Object.fromEntries(
      textNames.flatMap((name) => (sent[name] === undefined ? [] : [[name, fieldText(sent[name])]])),
    ),
  },
  flags: new Set(flagNames.filter((name) => isTicked(sent[name]))),
  variables: readRows(sent['url_variables']),
  headers: readRows(sent['custom_headers']),
  stored: storedSecrets(hook),
  typed: new Set(secretNames.filter((name) => fieldText(sent[name]) !== '')),
});

const shape = object(hookFields);
type HookParams = Static<typeof shape>;

/** Returns the edit of a secret; an empty field keeps the stored one. */
const secretEdit = (params: HookParams, name: (typeof secretNames)[number]): Partial<HookEdit> => {
  const typed = params[name] ?? '';
  if (typed !== '') return { [name]: typed };
  return params[`remove_${name}`] ? { [name]: null } : {};
};

export const toEdit = (owner: HookOwner, params: HookParams): HookEdit & { url: string } => {
  const { url = '', name = '', description = '', custom_webhook_template = '', ...rest } = params;
  const { branch_filter_strategy, push_events_branch_filter = '', enable_ssl_verification, format } = rest;
  return {
    ...Object.fromEntries(listEvents(owner).map((event) => [event, params[event]])),
    url: url.trim(),
    name,
    description,
    ...secretEdit(params, 'token'),
    ...secretEdit(params, 'signing_token'),
    branch_filter_strategy,
    push_events_branch_filter:
      branch_filter_strategy === 'all_branches' ? null : push_events_branch_filter.trim(),
    enable_ssl_verification,
    custom_webhook_template,
    format,
    url_variables: toParameter(readRows(params.url_variables)),
    custom_headers: toParameter(readRows(params.custom_headers)),
  };
};

const fieldNames = [...textNames, ...secretNames, 'url_variables', 'custom_headers'];

export const toProblems = (problems: FormProblems): FormProblems => moveUnknownToText(problems, fieldNames);

const eventBoxes = (owner: HookOwner, { flags }: HookValues): Html => html`<fieldset>
<legend>${owner.type === 'instance' ? 'Further events' : 'Events'}</legend>
${owner.type === 'instance' && html`<p class="hint">System hooks always receive changes of users, groups, projects, members and keys.</p>`}
${listEvents(owner).map((name) =>
  checkbox({
    name,
    label: eventLabels[name] ?? name,
    checked: flags.has(name),
    ...(eventHints[name] !== undefined && { hint: eventHints[name] }),
  }),
)}</fieldset>
`;

export const strategies = [
  ['all_branches', 'All branches'],
  ['wildcard', 'Branches that match a pattern'],
  ['regex', 'Branches that match a regular expression'],
] as const;

const branchFields = ({ values: { texts }, problems }: HookState): Html =>
  html`<div class="field-row">${select({
    name: 'branch_filter_strategy',
    label: 'Branches whose pushes are sent',
    value: texts.branch_filter_strategy,
    options: strategies,
    problems,
  })}${input({
    name: 'push_events_branch_filter',
    label: 'Pattern or regular expression',
    value: texts.push_events_branch_filter,
    problems,
  })}</div>`;

/** Renders the form. */
export const hookForm = (
  visit: Visit,
  { action, submit, owner, base }: { action: string; submit: string; owner: HookOwner; base?: Html | null },
  state: HookState,
): Html => {
  const { values } = state;
  const problems = addLostSecrets(state);
  const { texts } = values;
  return form(
    visit,
    { action, submit, problems },
    input({
      name: 'url',
      label: 'URL',
      hint: values.stored.has('url')
        ? 'Stored. Leave it empty to keep it.'
        : 'Receives a POST with JSON. {name} inserts the value of a URL variable.',
      value: texts.url,
      required: !values.stored.has('url'),
      problems,
    }),
    input({ name: 'name', label: 'Name (optional)', value: texts.name, problems }),
    input({ name: 'description', label: 'Description (optional)', value: texts.description, problems }),
    secretFields({ values, problems }),
    eventBoxes(owner, values),
    branchFields(state),
    checkbox({
      name: 'enable_ssl_verification',
      label: 'Verify the certificate of the receiver',
      checked: values.flags.has('enable_ssl_verification'),
    }),
    secretRows({ values, problems }),
    select({
      name: 'format',
      label: 'Format',
      hint: 'Payload format. For a chat service, enter its incoming webhook URL.',
      value: texts.format,
      options: Object.entries(formatLabels),
      problems,
    }),
    textArea({
      name: 'custom_webhook_template',
      label: 'Payload template (optional)',
      hint: 'JSON to send instead of the payload. Only for format JSON. {{project.name}} inserts a payload value.',
      value: texts.custom_webhook_template,
      problems,
    }),
    base ?? null,
  );
};
