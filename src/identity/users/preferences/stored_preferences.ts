/** Loads and stores how a user prefers pages. Pages know what the text means. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../../platform/db/keep_until_change.ts';
import type { Reader } from '../../../platform/db/open.ts';

const selectChoices = compiled((db, { user_id }: { user_id: number }) =>
  db.selectFrom('user_preferences').select('choices').where('user_id', '=', user_id).compile(),
);

/** Users whose choices are kept: every page reads them. */
const maxKept = 1000;

const keepChoices = keepUntilChange<string | null>(['user_preferences'], maxKept);

/** Returns the choices of a user; null: none. */
export const loadChoices = async (db: Reader, userId: number): Promise<string | null> =>
  await keepChoices(
    db,
    String(userId),
    async () => (await selectChoices(db, { user_id: userId }))[0]?.choices ?? null,
  );

/** Replaces the choices of the caller. */
export const storeChoices = async (call: Call, choices: string): Promise<void> => {
  const { id: user_id } = requireUser(call);
  await call.write(async ({ db }) => {
    await db
      .insertInto('user_preferences')
      .values({ user_id, choices })
      .onConflict((clash) => clash.column('user_id').doUpdateSet({ choices }))
      .execute();
  });
};
