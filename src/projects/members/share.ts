/** Shares projects and groups with groups, whose members then have a role in them. */
import { recordAudit } from '../../core/access/audit.ts';
import { type Call, requireActor } from '../../core/access/call.ts';
import { today } from '../../core/access/viewer.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { isCurrentLink } from '../../identity/groups/group_links.ts';
import { isSharingLocked } from '../../identity/groups/inherited_options.ts';
import { lockNamespace } from '../../identity/namespaces/claim_path.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { conflict, forbidden, invalid, notFound } from '../../platform/errors.ts';
import type { Source, SourceKind } from './member_source.ts';
import { requireGrantable } from './rules.ts';

export type Share = { group_id: number; group_access: number; expires_at: string | null };

export type SharedGroup = Share & { id: number };

const quota = { what: 'groups', most: 100 };

const record = async (
  call: Call,
  tx: Tx,
  { type, id }: Source,
  { verb, share }: { verb: 'shared' | 'share_changed' | 'unshared'; share: SharedGroup },
): Promise<void> => {
  const kind = `${type === 'Project' ? 'project' : 'group'}.${verb}`;
  const { group_id, group_access, expires_at } = share;
  const data = { group_id, group_access, expires_at };
  const target = { target_type: type === 'Project' ? 'Project' : 'Group', target_id: id };
  const project_id = type === 'Project' ? id : null;
  await recordEvent(tx, requireActor(call), { kind, project_id, ...target, data });
  await recordAudit(tx, requireActor(call), call, { kind, ...target, details: data });
};

/** Locks the source and the group, in the order of their ids. @throws Failure 404 if one is gone */
const lockBoth = async (tx: Tx, kind: SourceKind, source: Source, groupId: number): Promise<void> => {
  const lockGroup = async (): Promise<void> => {
    if ((await lockNamespace(tx, groupId)) === undefined) throw notFound('Group');
  };
  if (groupId < source.namespace_id) await lockGroup();
  await kind.lock(tx, source);
  if (groupId > source.namespace_id) await lockGroup();
};

/** Deletes the shares whose last day is over, so that they can be granted again. */
const deleteEnded = async (tx: Tx, { type, id }: Source): Promise<void> => {
  await tx.db
    .deleteFrom('group_links')
    .where('source_type', '=', type)
    .where('source_id', '=', id)
    .where('expires_at', '<=', today(tx.now))
    .execute();
};

/**
 * Shares a source with a group that the caller sees.
 * @throws Failure 403 for a role above the caller's role or if sharing is locked, 404 for a hidden group, 409 if it is
 * shared already
 */
export const shareWithGroup = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  share: Share,
): Promise<SharedGroup> => {
  if (!source.mayAdmin || (await isSharingLocked(call.db, source.namespace_id))) throw forbidden();
  const group = await findGroup(call, share.group_id);
  requireGrantable(
    kind,
    source,
    { access_level: share.group_access, expires_at: share.expires_at },
    call.now,
  );
  if (source.type === 'Namespace' && group.id === source.id)
    throw invalid({ group: ['cannot be shared with itself'] });
  return await call.write(async (tx) => {
    await lockBoth(tx, kind, source, group.id);
    const links = tx.db
      .selectFrom('group_links')
      .where('source_type', '=', source.type)
      .where('source_id', '=', source.id);
    await deleteEnded(tx, source);
    await requireRecordQuota(links, quota);
    const row = await tx.db
      .insertInto('group_links')
      .values({
        source_type: source.type,
        source_id: source.id,
        group_id: group.id,
        group_access: share.group_access,
        expires_at: share.expires_at,
        created_at: tx.now,
      })
      .onConflict((clash) => clash.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (row === undefined) throw conflict('The group has already been shared with');
    const made = { ...share, id: row.id };
    await record(call, tx, source, { verb: 'shared', share: made });
    return made;
  });
};

/**
 * Changes the maximum role of a share, and its last day.
 * @throws Failure 400, 403 for a role above the caller's role, 404
 */
export const updateShare = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  { group_id, group_access, expires_at }: Share,
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  requireGrantable(kind, source, { access_level: group_access, expires_at }, call.now);
  await call.write(async (tx) => {
    const row = await tx.db
      .updateTable('group_links')
      .set({ group_access, expires_at })
      .where('source_type', '=', source.type)
      .where('source_id', '=', source.id)
      .where('group_id', '=', group_id)
      .where(isCurrentLink(tx.now))
      .returning(['id', 'group_id', 'group_access', 'expires_at'])
      .executeTakeFirst();
    if (row === undefined) throw notFound('Group Link');
    await record(call, tx, source, { verb: 'share_changed', share: row });
  });
};

/** Ends the sharing with a group. @throws Failure 403, 404 */
export const unshareWithGroup = async (call: Call, source: Source, groupId: number): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  await call.write(async (tx) => {
    const row = await tx.db
      .deleteFrom('group_links')
      .where('source_type', '=', source.type)
      .where('source_id', '=', source.id)
      .where('group_id', '=', groupId)
      .returning(['id', 'group_id', 'group_access', 'expires_at'])
      .executeTakeFirst();
    if (row === undefined) throw notFound('Group Link');
    await record(call, tx, source, { verb: 'unshared', share: row });
  });
};
