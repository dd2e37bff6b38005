/** Triggers: tokens with which external programs start pipelines, with the permissions of the token's owner. */
import type { Selectable } from 'kysely';
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { seal, unseal } from '../../../core/access/credentials/encrypt_secrets.ts';
import { hashToken, generateTokenText } from '../../../core/access/credentials/token_text.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { requireRecordQuota } from '../../../platform/db/quota.ts';
import type { TriggersTable } from '../../../platform/db/schema/ci.ts';
import { forbidden, invalid, notFound } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';

export type Trigger = Selectable<TriggersTable>;

const purpose = 'trigger';

export const unsealToken = ({ secrets }: Platform, { sealed_token }: Trigger): string =>
  unseal(secrets.encryption_key, purpose, sealed_token);

export const listTriggers = async (
  db: Reader,
  projectId: number,
  { limit, offset }: PageRequest,
): Promise<Page<Trigger>> => {
  const query = db.selectFrom('triggers').where('project_id', '=', projectId);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** @throws Failure 404 */
export const findTrigger = async (db: Reader, projectId: number, id: number): Promise<Trigger> => {
  const row = await db
    .selectFrom('triggers')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Trigger');
  return row;
};

/** Finds the trigger of a token; null if the project has none. */
export const findTriggerByToken = async (
  db: Reader,
  projectId: number,
  token: string,
): Promise<Trigger | null> =>
  (await db
    .selectFrom('triggers')
    .selectAll()
    .where('token_hash', '=', hashToken(token))
    .where('project_id', '=', projectId)
    .executeTakeFirst()) ?? null;

const recordTriggerEvent = async (
  call: Call,
  tx: Tx,
  verb: string,
  { id, project_id, description }: Trigger,
) =>
  await recordEvent(tx, requireActor(call), {
    kind: `trigger.${verb}`,
    project_id,
    target_type: 'Trigger',
    target_id: id,
    data: { description },
  });

const checkDescription = (description: string): void => {
  if (description.trim() === '') throw invalid({ description: ["can't be blank"] });
};

const limit = { what: 'pipeline triggers', most: 25_000 };

/** @throws Failure 400 for a blank description, or too many triggers */
export const createTrigger = async (
  call: Call,
  { id: project_id }: Project,
  description: string,
): Promise<Trigger> => {
  checkDescription(description);
  const { random, secrets } = call.platform;
  const token = generateTokenText(random, 'glptt');
  const secret = {
    token_hash: hashToken(token),
    sealed_token: seal(secrets.encryption_key, purpose, token),
  };
  return await call.write(async (tx) => {
    await holdProject(tx, project_id);
    await requireRecordQuota(tx.db.selectFrom('triggers').where('project_id', '=', project_id), limit);
    const row = {
      project_id,
      owner_id: requireUser(call).id,
      description,
      ...secret,
      last_used_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const trigger = { id: await insertRow(tx.db, 'triggers', row), ...row };
    await recordTriggerEvent(call, tx, 'created', trigger);
    return trigger;
  });
};

/** @throws Failure 404, 403 for another owner's trigger, 400 for a blank description */
export const updateTrigger = async (
  call: Call,
  { id: projectId }: Project,
  id: number,
  description: string | undefined,
): Promise<Trigger> =>
  await call.write(async (tx) => {
    const before = await findTrigger(tx.db, projectId, id);
    if (before.owner_id !== requireUser(call).id) throw forbidden();
    if (description === undefined) return before;
    checkDescription(description);
    const changed = { description, updated_at: tx.now };
    await tx.db.updateTable('triggers').set(changed).where('id', '=', id).execute();
    await recordTriggerEvent(call, tx, 'updated', before);
    return { ...before, ...changed };
  });

/** @throws Failure 404 */
export const deleteTrigger = async (call: Call, { id: projectId }: Project, id: number): Promise<void> => {
  await call.write(async (tx) => {
    const row = await findTrigger(tx.db, projectId, id);
    await tx.db.deleteFrom('triggers').where('id', '=', id).execute();
    await recordTriggerEvent(call, tx, 'deleted', row);
  });
};
