/** Creates, changes and deletes hooks of any owner. Secrets are never logged. */
import { randomUUID } from 'node:crypto';
import type { UpdateObject } from 'kysely';
import { sql } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { getOutgoingRules } from '../../core/settings/setting_effects.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import type { Flag } from '../../platform/db/schema/column_types.ts';
import type { Schema } from '../../platform/db/schema/database.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { isListed } from '../sender/allowed_addresses.ts';
import {
  type BranchFilterStrategy,
  type EventFlag,
  type HookFormat,
  eventFlagNames,
  systemFlags,
} from './flags.ts';
import { type HookOwner, lockOwner, ownerColumns, selectOwnHooks } from './owners.ts';
import { type HookRow, findHook } from './queries.ts';
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
import { hooksTopic, resumeWork } from './topic.ts';
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

const quotas = {
  project: { what: 'project hooks', most: 1_000 },
  group: { what: 'group hooks', most: 1_000 },
  instance: { what: 'system hooks', most: 1_000 },
};

/** Invalidates every process's hook cache. Must run in the transaction that changes the hooks. */
const raiseVersion = async (tx: Tx): Promise<void> => {
  tx.broadcast(hooksTopic);
  await tx.db
    .updateTable('instance')
    .set({ value: sql<string>`cast(cast(value as bigint) + 1 as text)` })
    .where('name', '=', 'hooks_version')
    .execute();
};

const recordHookEvent = async (
  call: Call,
  tx: Tx,
  verb: string,
  row: Pick<HookRow, 'id' | 'project_id' | 'group_id'>,
) =>
  await recordEvent(tx, requireActor(call), {
    kind: `hook.${verb}`,
    project_id: row.project_id,
    target_type: 'Hook',
    target_id: row.id,
    ...(row.group_id !== null && { data: { group_id: row.group_id } }),
  });

const flag = (value: boolean): Flag => (value ? 1 : 0);

const flagColumns = (edit: HookEdit): { [F in EventFlag]?: Flag } =>
  Object.fromEntries(
    eventFlagNames.flatMap((name) => {
      const value = edit[name];
      return value === undefined ? [] : [[name, flag(value)]];
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
      enable_ssl_verification: flag(edit.enable_ssl_verification),
    }),
  };
};

type StoredValues = { variables: Values; headers: Values };

const noValues: StoredValues = { variables: {}, headers: {} };

/** The variables and headers of an edit; undefined: it does not include them. */
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
  const { isLocalAllowed, allowedHosts } = getOutgoingRules(call.settings);
  const { port = '' } = URL.parse(url) ?? {};
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

const defaultFlags = ({ type }: HookOwner): { [F in EventFlag]: Flag } => ({
  ...(Object.fromEntries(eventFlagNames.map((name) => [name, 0])) as { [F in EventFlag]: Flag }),
  ...(type === 'instance' ? { repository_update_events: 1 } : { push_events: 1 }),
});

/** Removes event flags that system hooks do not support. */
const keepOwnFlags = ({ type }: HookOwner, edit: HookEdit): HookEdit => {
  if (type !== 'instance') return edit;
  const others = eventFlagNames.filter((name) => !systemFlags.includes(name));
  return Object.fromEntries(Object.entries(edit).filter(([name]) => !others.includes(name as EventFlag)));
};

/** @throws Failure 422 for an invalid URL, template, token, header or variable; 400 for too many hooks */
export const createHook = async (
  call: Call,
  owner: HookOwner,
  input: HookEdit & { url: string },
): Promise<HookRow> => {
  const edit = { ...keepOwnFlags(owner, input), url: input.url };
  const secrets = readSecrets(edit, noValues);
  checkEdit(edit);
  checkUrlOf(call, edit.url, secrets.variables?.values ?? {});
  checkBranchFilter(edit.push_events_branch_filter ?? null, edit.branch_filter_strategy ?? 'wildcard');
  const columns = { ...flagColumns(edit), ...textColumns(edit), ...secretColumns(call, edit, secrets) };
  return await call.write(async (tx) => {
    await lockOwner(tx, owner);
    await requireRecordQuota(selectOwnHooks(tx.db, owner), quotas[owner.type]);
    const row = await tx.db
      .insertInto('hooks')
      .values({
        ...ownerColumns(owner),
        ...defaultFlags(owner),
        url: edit.url,
        enable_ssl_verification: 1,
        branch_filter_strategy: 'wildcard',
        uuid: randomUUID(),
        created_at: tx.now,
        updated_at: tx.now,
        ...(columns as object),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await raiseVersion(tx);
    await recordHookEvent(call, tx, 'created', row);
    return row;
  });
};

const loadValues = ({ platform }: Call, row: HookRow): StoredValues => ({
  variables: unsealValues(platform, row.sealed_url_variables),
  headers: unsealValues(platform, row.sealed_custom_headers),
});

const toEnterAgain = 'values must be entered again, because the URL leads to another host';

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

/** Checks an edit against the stored hook. Returns the columns with secrets. @throws Failure 422 */
const readUpdate = (call: Call, edit: HookEdit, before: HookRow): Columns => {
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
  return { ...(isMoved && clearForNewHost(url, stored, sent)), ...secretColumns(call, edit, sent) };
};

/**
 * Edits a hook. Also resumes a hook that paused after failures: its pending deliveries are sent at once. If the edit
 * changes the URL's origin, tokens, headers and URL variables that it does not include are cleared, so that the new host
 * does not receive them.
 * @throws Failure 404, 422
 */
export const updateHook = async (
  call: Call,
  owner: HookOwner,
  id: number,
  input: HookEdit,
): Promise<HookRow> => {
  const edit = keepOwnFlags(owner, input);
  checkEdit(edit);
  return await call.write(async (tx) => {
    await lockOwner(tx, owner);
    const before = await findHook(tx.db, owner, id);
    const row = await tx.db
      .updateTable('hooks')
      .set({
        ...(readUpdate(call, edit, before) as object),
        ...flagColumns(edit),
        ...(textColumns(edit) as object),
        failures: 0,
        disabled_until: null,
        updated_at: tx.now,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (before.failures > 0) await enqueue(tx, resumeWork, { hook_id: id });
    await raiseVersion(tx);
    await recordHookEvent(call, tx, 'updated', row);
    return row;
  });
};

/** Deletes a hook with its pending deliveries and its log. @throws Failure 404 */
export const deleteHook = async (call: Call, owner: HookOwner, id: number): Promise<HookRow> =>
  await call.write(async (tx) => {
    const row = await findHook(tx.db, owner, id);
    await tx.db.deleteFrom('hooks').where('id', '=', id).execute();
    await raiseVersion(tx);
    await recordHookEvent(call, tx, 'deleted', row);
    return row;
  });
