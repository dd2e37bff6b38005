import type { Tx } from '../../platform/db/open.ts';

/** Locks what exists once per instance until the transaction ends. */
export const lockInstance = async ({ db, dialect }: Tx): Promise<void> => {
  const row = db.selectFrom('instance').select('value').where('name', '=', 'settings');
  await row.modifyEnd(dialect.forUpdate).execute();
};
