import { recordAudit } from '../../../core/access/audit.ts';
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Invitation } from '../../../identity/invitations/links.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { forbidden } from '../../../platform/errors.ts';
import type { Source, SourceKind } from '../member_source.ts';
import { type Role, requireGrantable } from '../rules.ts';
import { findInvitation } from './queries.ts';

const audit = async (
  tx: Tx,
  call: Call,
  source: Source,
  { kind, invitation, changes = {} }: { kind: string; invitation: Invitation; changes?: Partial<Role> },
): Promise<void> =>
  await recordAudit(tx, requireActor(call), call, {
    kind,
    target_type: source.type === 'Project' ? 'Project' : 'Group',
    target_id: source.id,
    details: { invitation_id: invitation.id, email: invitation.email, ...changes },
  });

/** Changes the role, or its last day, of a pending invitation. @throws Failure 400, 403, 404 */
export const updateInvitation = async (
  call: Call,
  { kind, source }: { kind: SourceKind; source: Source },
  email: string,
  changes: Partial<Role>,
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  requireGrantable(kind, source, changes, call.now);
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const invitation = await findInvitation(tx.db, source, email, tx.now);
    // Users who may not grant a role may not change its expiration.
    if (invitation.access_level > source.level) throw forbidden();
    if (Object.keys(changes).length === 0) return;
    await tx.db.updateTable('invitations').set(changes).where('id', '=', invitation.id).execute();
    await audit(tx, call, source, { kind: 'invitation.updated', invitation, changes });
  });
};

/** Withdraws a pending invitation: its link no longer works. @throws Failure 403, 404 */
export const withdrawInvitation = async (
  call: Call,
  { kind, source }: { kind: SourceKind; source: Source },
  email: string,
): Promise<void> => {
  if (!source.mayAdmin) throw forbidden();
  await call.write(async (tx) => {
    await kind.lock(tx, source);
    const invitation = await findInvitation(tx.db, source, email, tx.now);
    await tx.db.deleteFrom('invitations').where('id', '=', invitation.id).execute();
    await audit(tx, call, source, { kind: 'invitation.withdrawn', invitation });
  });
};
