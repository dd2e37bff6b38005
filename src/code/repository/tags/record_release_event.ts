import type { Selectable } from 'kysely';
import { type Call, requireActor } from '../../../core/access/call.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { ReleasesTable } from '../../../platform/db/schema/code.ts';

/** Records a change of a release, which may be deleted in the same transaction. */
export const recordReleaseEvent = async (
  tx: Tx,
  call: Call,
  kind: 'release.created' | 'release.updated' | 'release.deleted',
  release: Selectable<ReleasesTable>,
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind,
    project_id: release.project_id,
    target_type: 'Release',
    target_id: release.id,
    data: { tag: release.tag },
    transient: { release },
  });
