import { sql } from 'kysely';
import { type Call, requireUser } from '../../core/access/call.ts';

/** Invalidates the addresses of all feeds that the caller has copied. */
export const resetFeedAddresses = async (call: Call): Promise<void> => {
  const { id } = requireUser(call);
  await call.write(
    async ({ db }) =>
      await db
        .updateTable('users')
        .set({ feed_generation: sql`feed_generation + 1` })
        .where('id', '=', id)
        .execute(),
  );
};
