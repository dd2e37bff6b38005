/** Checks the input of hooks and turns it into columns, with secrets sealed. */
import type { UpdateObject } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { type Flag, toFlag } from '../../platform/db/schema/column_types.ts';
import type { Schema } from '../../platform/db/schema/database.ts';
import { getPort, isListed } from '../../platform/addresses/allowed_addresses.ts';
import {
  type BranchFilterStrategy,
  type EventFlag,
  type HookFormat,
  eventFlagNames,
  systemFlags,
} from './event_flags.ts';
import { getHookRules } from './hook_rules.ts';
import type { HookOwner } from './owners.ts';
import type { HookRow } from './queries.ts';
import {
  type ReadValues,
  checkBranchFilter,
  checkTemplate,
  checkToken,
  checkUrl,
  readHeaders,
  readUrlVariables,
  unprocessable,
} from './rules.ts';
import {
  type Values,
  findPlaceholders,
  interpolateUrl,
  sealText,
  sealValues,
  unsealValues,
} from './secrets.ts';

export type HookEdit = { [F in EventFlag]?: boolean } & {
  url?: string;
  name?: string | null;
  description?: string | null;
  token?: string | null;
  signing_token?: string | null;
  enable_ssl_verification?: boolean;
  push_events_branch_filter?: string | null;
  branch_filter_strategy?: BranchFilterStrategy;
  custom_webhook_template?: string | null;
  format?: HookFormat;
  /** Lists of `{ key, value }`, checked here. */
  url_variables?: unknown;
  custom_headers?: unknown;
};

const flagColumns = (edit: HookEdit): { [F in EventFlag]?: Flag } =>
  Object.fromEntries(
    eventFlagNames.flatMap((name) => {
      const value = edit[name];
      return value === undefined ? [] : [[name, toFlag(value)]];
    }),
  );

const blankIsNull = (text: string | null): string | null =>
  text === null || text.trim() === '' ? null : text;

type Columns = UpdateObject<Schema, 'hooks'>;

const textColumns = (edit: HookEdit): Columns => {
  const { url, name, description, custom_webhook_template: template, push_events_branch_filter } = edit;
  return {
    ...(url !== undefined && { url }),
    ...(name !== undefined && { name: blankIsNull(name) }),
    ...(description !== undefined && { description: blankIsNull(description) }),
    ...(template !== undefined && { custom_webhook_template: blankIsNull(template) }),
    ...(push_events_branch_filter !== undefined && {
      push_events_branch_filter: blankIsNull(push_events_branch_filter),
    }),
    ...(edit.format !== undefined && { format: edit.format }),
    ...(edit.branch_filter_strategy !== undefined && { branch_filter_strategy: edit.branch_filter_strategy }),
    ...(edit.enable_ssl_verification !== undefined && {
      enable_ssl_verification: toFlag(edit.enable_ssl_verification),
    }),
  };
};

type StoredValues = { variables: Values; headers: Values };

const noValues: StoredValues = { variables: {}, headers: {} };

/** The variables and headers of an edit; undefined if it does not include them. */
type SentValues = { variables?: ReadValues; headers?: ReadValues };

/** Reads variables and headers. @throws Failure 422 */
const readSecrets = (edit: HookEdit, stored: StoredValues): SentValues => ({
  ...(edit.url_variables !== undefined && {
    variables: readUrlVariables(edit.url_variables ?? [], stored.variables),
  }),
  ...(edit.custom_headers !== undefined && {
    headers: readHeaders(edit.custom_headers ?? [], stored.headers),
  }),
});

/** @throws Failure 422 */
const checkEdit = (edit: HookEdit): void => {
  if (typeof edit.custom_webhook_template === 'string' && edit.custom_webhook_template.trim() !== '')
    checkTemplate(edit.custom_webhook_template);
  if (typeof edit.token === 'string') checkToken(edit.token);
};

/** @throws Failure 422 */
const checkUrlOf = (call: Call, url: string, variables: Values): void => {
  const { isLocalAllowed, allowedHosts } = getHookRules(call.platform.config, call.settings);
  const parsed = URL.parse(url);
  const port = parsed === null ? '' : getPort(parsed);
  checkUrl(url, variables, (host) => isLocalAllowed || isListed(allowedHosts, { host, port, address: null }));
};

const getOrigin = (url: string, variables: Values): string => {
  const whole = interpolateUrl(url, variables);
  return URL.parse(whole)?.origin ?? whole;
};

const sealOptional = (platform: Call['platform'], text: string | null): string | null =>
  text === null || text === '' ? null : sealText(platform, text);

const secretColumns = (
  { platform }: Call,
  { token, signing_token }: HookEdit,
  { variables, headers }: SentValues,
): Columns => ({
  ...(token !== undefined && { sealed_token: sealOptional(platform, token) }),
  ...(signing_token !== undefined && { sealed_signing_token: sealOptional(platform, signing_token) }),
  ...(variables !== undefined && { sealed_url_variables: sealValues(platform, variables.values) }),
  ...(headers !== undefined && { sealed_custom_headers: sealValues(platform, headers.values) }),
});

export const defaultFlags = ({ type }: HookOwner): { [F in EventFlag]: Flag } => ({
  ...(Object.fromEntries(eventFlagNames.map((name) => [name, 0])) as { [F in EventFlag]: Flag }),
  ...(type === 'instance' ? { repository_update_events: 1 } : { push_events: 1 }),
});

/** Removes event flags that system hooks do not support. */
export const keepOwnFlags = ({ type }: HookOwner, edit: HookEdit): HookEdit => {
  if (type !== 'instance') return edit;
  const others = eventFlagNames.filter((name) => !systemFlags.includes(name));
  return Object.fromEntries(Object.entries(edit).filter(([name]) => !others.includes(name as EventFlag)));
};

/** Checks the input of a new hook. Returns its columns with secrets. @throws Failure 422 */
export const readNewHook = (call: Call, edit: HookEdit & { url: string }): Columns => {
  const secrets = readSecrets(edit, noValues);
  checkEdit(edit);
  checkUrlOf(call, edit.url, secrets.variables?.values ?? {});
  checkBranchFilter(edit.push_events_branch_filter ?? null, edit.branch_filter_strategy ?? 'wildcard');
  return { ...flagColumns(edit), ...textColumns(edit), ...secretColumns(call, edit, secrets) };
};

const loadValues = ({ platform }: Call, row: HookRow): StoredValues => ({
  variables: unsealValues(platform, row.sealed_url_variables),
  headers: unsealValues(platform, row.sealed_custom_headers),
});

const toEnterAgain = 'values must be entered again, because the URL points to another host';

/**
 * Returns what an edit clears so that a new host does not receive the secrets of the former one: all that the edit does
 * not include.
 * @throws Failure 422 if the edit keeps stored values, or the URL uses them
 */
const clearForNewHost = (url: string, stored: StoredValues, sent: SentValues): Columns => {
  if (sent.headers?.hasKept === true) throw unprocessable('custom_headers', toEnterAgain);
  const isUsed = findPlaceholders(url).some((name) => Object.hasOwn(stored.variables, name));
  if (sent.variables?.hasKept === true || (sent.variables === undefined && isUsed))
    throw unprocessable('url_variables', toEnterAgain);
  return {
    sealed_token: null,
    sealed_signing_token: null,
    sealed_custom_headers: null,
    sealed_url_variables: null,
  };
};

/** Checks an edit against the stored hook. Returns its columns with secrets. @throws Failure 422 */
export const readHookUpdate = (call: Call, edit: HookEdit, before: HookRow): Columns => {
  checkEdit(edit);
  const stored = loadValues(call, before);
  const sent = readSecrets(edit, stored);
  const url = edit.url ?? before.url;
  const variables = sent.variables?.values ?? stored.variables;
  checkUrlOf(call, url, variables);
  checkBranchFilter(
    edit.push_events_branch_filter === undefined
      ? before.push_events_branch_filter
      : edit.push_events_branch_filter,
    edit.branch_filter_strategy ?? before.branch_filter_strategy,
  );
  const isMoved = getOrigin(url, variables) !== getOrigin(before.url, stored.variables);
  return {
    ...(isMoved && clearForNewHost(url, stored, sent)),
    ...secretColumns(call, edit, sent),
    ...flagColumns(edit),
    ...textColumns(edit),
  };
};
