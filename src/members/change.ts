import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { conflict, forbidden, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { isMembershipLocked } from '../groups/inherited.ts';
import { changesOf } from '../namespaces/changes.ts';
import { insertMember } from '../namespaces/member.ts';
import { loadUser } from '../users/queries.ts';
import { type Membership, hasEnded, membershipOf } from './queries.ts';
import { type Role, requireGrantable, requireMembership, requireOwnerStays } from './rules.ts';
import type { Source, SourceKind } from './source.ts';

const targetOf = ({ type, id }: Source, member: Membership) => ({
  project_id: type === 'Project' ? id : null,
  target_type: 'Member',
  target_id: member.id,
});

const deleteRow = async (tx: Tx, id: number): Promise<void> => {
  await tx.db.deleteFrom('members').where('id', '=', id).execute();
};

/**
 * Gives a user a role in a source that the caller found.
 * @throws Failure 403, 404 for a user that does not exist, 409 for one who has a role
 */
export const addMember = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  wanted: Role & { user_id: number },
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  if (source.type === 'Project' && (await isMembershipLocked(call.db, source.namespace_id)))
    throw forbidden();
  const user = await loadUser(call.db, wanted.user_id);
  if (user.ghost === 1) throw notFound('User');
  requireGrantable(kind, source, wanted, call.now);
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const old = await membershipOf(tx, source, wanted.user_id);
    if (old !== undefined && !hasEnded(old, tx.now)) throw conflict('Member already exists');
    if (old !== undefined) await deleteRow(tx, old.id);
    await insertMember(tx, actorOf(call), [source.type, source.id], wanted);
  });
};

/** Changes the role of a member. @throws Failure 403, 404 */
export const updateMember = async (
  call: Call,
  kind: SourceKind,
  source: Source,
  { user_id, ...wanted }: { user_id: number; access_level: number; expires_at?: string | null },
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const old = await requireMembership(tx, source, user_id);
    requireGrantable(kind, source, wanted, call.now);
    const { changes, data } = changesOf(old, wanted);
    if (Object.keys(changes).length === 0) return;
    await requireOwnerStays(tx, source, old, { ...old, ...changes });
    await tx.db.updateTable('members').set(changes).where('id', '=', old.id).execute();
    const target = targetOf(source, old);
    await recordEvent(tx, actorOf(call), { kind: 'member.updated', ...target, data: { user_id, ...data } });
  });
};

/** Takes a role away; everybody may give up his own. @throws Failure 403, 404 */
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
    await recordEvent(tx, actorOf(call), { kind: 'member.removed', ...targetOf(source, old), data });
  });
};
