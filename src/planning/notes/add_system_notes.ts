import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Target } from '../issuables/target.ts';

/** Inserts system notes under a target. `null` texts are skipped. */
export const addSystemNotes = async (
  tx: Tx,
  authorId: number,
  { type, id, project_id }: Pick<Target, 'type' | 'id' | 'project_id'>,
  texts: (string | null)[],
): Promise<void> => {
  const bodies = texts.filter((text) => text !== null);
  if (bodies.length === 0) return;
  const shared = {
    project_id,
    target_type: type,
    target_id: id,
    author_id: authorId,
    system: 1 as const,
    created_at: tx.now,
    updated_at: tx.now,
  };
  await insertRows(
    tx.db,
    'notes',
    bodies.map((body) => ({ ...shared, body })),
  );
};
