import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { conflict, forbidden, invalid, notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { isMembershipLocked } from '../../identity/groups/inherited_options.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import { insertMember } from '../../identity/namespaces/add_member.ts';
import { isBot } from '../../identity/bots/is_bot.ts';
import { loadUser } from '../../identity/users/queries.ts';
import { type Membership, hasEnded, loadMembership } from './queries.ts';
import { type Role, requireGrantable, requireMembership, requireOwnerStays } from './rules.ts';
import type { Source, SourceKind } from './member_source.ts';

const toAuditTarget = ({ type, id }: Source, member: Membership) => ({
  project_id: type === 'Project' ? id : null,
  target_type: 'Member',
  target_id: member.id,
});

const deleteRow = async (tx: Tx, id: number): Promise<void> => {
  await tx.db.deleteFrom('members').where('id', '=', id).execute();
};

/**
 * Adds a member to a source that the caller sees.
 * @throws Failure 403, 404 for an unknown user, 409 for an existing member
 */
export const addMember = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  requested: Role & { user_id: number },
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  if (source.type === 'Project' && (await isMembershipLocked(call.db, source.namespace_id)))
    throw forbidden();
  const user = await loadUser(call.db, requested.user_id);
  if (user.ghost === 1) throw notFound('User');
  if (await isBot(call.db, user.id)) throw invalid({ user: ['is a bot of another project or group'] });
  requireGrantable(kind, source, requested, call.now);
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const old = await loadMembership(tx, source, requested.user_id);
    if (old !== undefined && !hasEnded(old, tx.now)) throw conflict('Member already exists');
    if (old !== undefined) await deleteRow(tx, old.id);
    await insertMember(tx, requireActor(call), [source.type, source.id], requested);
  });
};

/** Changes the role of a member. @throws Failure 403, 404 */
export const updateMember = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  { user_id, ...requested }: { user_id: number; access_level: number; expires_at?: string | null },
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const old = await requireMembership(tx, source, user_id);
    requireGrantable(kind, source, requested, call.now);
    const { changes, data } = compareColumns(old, requested);
    if (Object.keys(changes).length === 0) return;
    await requireOwnerStays(tx, source, old, { ...old, ...changes });
    await tx.db.updateTable('members').set(changes).where('id', '=', old.id).execute();
    const target = toAuditTarget(source, old);
    await recordEvent(tx, requireActor(call), {
      kind: 'member.updated',
      ...target,
      data: { user_id, ...data },
      transient: { source_type: source.type, source_id: source.id },
    });
  });
};

/** Removes a member. Members may always remove themselves. @throws Failure 403, 404 */
export const removeMember = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  userId: number,
): Promise<void> => {
  if (!source.mayAdmin && userId !== call.viewer.user_id) throw forbidden();
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const old = await requireMembership(tx, source, userId);
    await requireOwnerStays(tx, source, old, null);
    await deleteRow(tx, old.id);
    const data = {
      user_id: userId,
      access_level: old.access_level,
      source_type: source.type,
      source_id: source.id,
    };
    await recordEvent(tx, requireActor(call), {
      kind: 'member.removed',
      ...toAuditTarget(source, old),
      data,
    });
  });
};
