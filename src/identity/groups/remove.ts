import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { notFound } from '../../platform/errors.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { blockBotsOf } from '../bots/block_bots.ts';
import { removeNamespace } from '../namespaces/remove.ts';
import type { Group } from './find.ts';

/**
 * Removes a group with all groups and projects below it. The caller must have been authorized.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`
 */
export const removeGroup = async (call: Call, group: Group): Promise<void> => {
  requireUnmodified(call.header('if-unmodified-since'), group.updated_at);
  await call.write(async (tx) => {
    if (!(await removeNamespace(tx, requireActor(call), group.id))) throw notFound('Group');
    await blockBotsOf(tx, { type: 'Namespace', id: group.id });
    const target = { project_id: null, target_type: 'Group', target_id: group.id };
    const data = { full_path: group.full_path };
    await recordEvent(tx, requireActor(call), { kind: 'group.removed', ...target, data });
  });
};
