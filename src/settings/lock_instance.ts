import type { Tx } from '../db/open.ts';

/** Nobody else changes what the instance has only once, until the transaction ends. */
export const lockInstance = async ({ db, words }: Tx): Promise<void> => {
  const row = db.selectFrom('instance').select('value').where('name', '=', 'settings');
  await row.modifyEnd(words.forUpdate).execute();
};
