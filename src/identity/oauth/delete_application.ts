import type { Store } from '../../platform/db/open.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';

/** Deletes an application with its grants and tokens. */
export const deleteApplication = async (
  { write }: Pick<Store, 'write'>,
  cause: Cause,
  source: Source,
  { id, name }: { id: number; name: string },
): Promise<void> =>
  await write(async (tx) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('oauth_applications')
      .where('id', '=', id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) return;
    const target = { target_type: 'Application', target_id: id };
    await recordEvent(tx, cause, {
      kind: 'application.deleted',
      project_id: null,
      ...target,
      data: { name },
    });
    await recordAudit(tx, cause, source, { kind: 'application.deleted', ...target, details: { name } });
  });
