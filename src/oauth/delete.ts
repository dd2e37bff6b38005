import type { Store } from '../db/open.ts';
import { type Source, recordAudit } from '../access/audit.ts';
import { type Cause, recordEvent } from '../events/record.ts';

/** Removes an application with all that it was given: its tokens end at once. */
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
