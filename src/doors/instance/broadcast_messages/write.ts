/** Administrators create, change and delete broadcast messages. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import { memberLevels } from '../../../core/access/levels.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { requireRecordQuota } from '../../../platform/db/quota.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { type Problems, invalid } from '../../../platform/errors.ts';
import { hourMilliseconds } from '../../../platform/time.ts';
import type { Checked } from '../../../platform/http/precondition.ts';
import { type BroadcastMessage, broadcastMessagesTopic, findMessage, maxUnended } from './queries.ts';

export const themes = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const;

export const broadcastTypes = ['banner', 'notification'] as const;

/** Attributes that an administrator sets. Times in milliseconds. */
export type MessageInput = {
  message?: string | undefined;
  starts_at?: number | undefined;
  ends_at?: number | undefined;
  color?: string | null | undefined;
  font?: string | null | undefined;
  theme?: (typeof themes)[number] | undefined;
  target_access_levels?: number[] | undefined;
  target_path?: string | null | undefined;
  broadcast_type?: (typeof broadcastTypes)[number] | undefined;
  dismissable?: boolean | undefined;
};

const isColor = (text: string | null | undefined): boolean =>
  text === null || text === undefined || /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text);

/** @throws Failure 400 */
const check = (input: MessageInput): void => {
  const problems: Problems = {};
  if (input.message?.trim() === '') problems['message'] = ["can't be blank"];
  for (const name of ['color', 'font'] as const)
    if (!isColor(input[name])) problems[name] = ['must be a valid color code'];
  if (input.target_access_levels?.some((level) => !memberLevels.includes(level)) === true)
    problems['target_access_levels'] = ['does not have a valid value'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

const record = async (call: Call, tx: Tx, verb: 'created' | 'updated' | 'deleted', id: number) => {
  tx.broadcast(broadcastMessagesTopic);
  await recordEvent(tx, requireActor(call), {
    kind: `broadcast_message.${verb}`,
    project_id: null,
    target_type: 'BroadcastMessage',
    target_id: id,
  });
};

type Defined<T> = { [N in keyof T]?: Exclude<T[N], undefined> };

const dropUndefined = <T extends object>(input: T): Defined<T> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Defined<T>;

/** Converts the input to columns. */
const toColumns = ({ target_access_levels, dismissable, target_path, ...rest }: MessageInput) =>
  dropUndefined({
    ...rest,
    target_path: target_path === '' ? null : target_path,
    target_access_levels: target_access_levels && JSON.stringify(target_access_levels),
    dismissable: dismissable === undefined ? undefined : toFlag(dismissable),
  });

/** Creates a message, by default shown for an hour from now. @throws Failure 400 */
export const createMessage = async (
  call: Call,
  input: MessageInput & { message: string },
): Promise<BroadcastMessage> => {
  check(input);
  const id = await call.write(async (tx) => {
    const unended = tx.db.selectFrom('broadcast_messages').where('ends_at', '>', tx.now);
    await requireRecordQuota(unended, { what: 'broadcast messages', most: maxUnended });
    const defaults = {
      starts_at: tx.now,
      ends_at: Math.max(input.starts_at ?? 0, tx.now) + hourMilliseconds,
      color: null,
      font: null,
      theme: 'indigo' as const,
      target_access_levels: '[]',
      target_path: null,
      broadcast_type: 'banner' as const,
      dismissable: 0 as const,
    };
    const times = { created_at: tx.now, updated_at: tx.now };
    const row = { ...defaults, ...toColumns(input), message: input.message, ...times };
    const made = await insertRow(tx.db, 'broadcast_messages', row);
    await record(call, tx, 'created', made);
    return made;
  });
  return await findMessage(call.db, id);
};

/** @throws Failure 400, 404 */
export const updateMessage = async (
  call: Call,
  id: number,
  { check: checkBefore, ...input }: Checked<MessageInput, BroadcastMessage>,
): Promise<BroadcastMessage> => {
  check(input);
  await call.write(async (tx) => {
    const row = tx.db.selectFrom('broadcast_messages').select('id').where('id', '=', id);
    await row.modifyEnd(tx.dialect.forUpdate).execute();
    const before = await findMessage(tx.db, id);
    checkBefore?.(before);
    await tx.db
      .updateTable('broadcast_messages')
      .set({ ...toColumns(input), updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await record(call, tx, 'updated', id);
  });
  return await findMessage(call.db, id);
};

/** @throws Failure 404 */
export const deleteMessage = async (call: Call, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await findMessage(tx.db, id);
    await tx.db.deleteFrom('broadcast_messages').where('id', '=', id).execute();
    await record(call, tx, 'deleted', id);
  });
