import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { BadgeOwner } from './owner.ts';

/** Records a change of a badge of a project or a group. */
export const recordBadge = async (
  tx: Tx,
  call: Call,
  { columns: { project_id, group_id } }: BadgeOwner,
  { verb, id, data = {} }: { verb: 'created' | 'updated' | 'deleted'; id: number; data?: object },
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `badge.${verb}`,
    project_id,
    target_type: 'Badge',
    target_id: id,
    data: { ...data, ...(group_id !== null && { group_id }) },
  });
