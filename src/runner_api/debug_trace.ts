/** Jobs whose shell shows each command with the values of its variables: what they print is for fewer people. */
import type { Platform } from '../access/call.ts';

const names = new Set(['CI_DEBUG_TRACE', 'CI_DEBUG_SERVICES']);

export const isDebugged = (variables: readonly { key: string; value: string }[]): boolean =>
  variables.some(({ key, value }) => names.has(key) && value.trim().toLowerCase() === 'true');

/** Before anything of its log is there. */
export const noteDebugged = async ({ store }: Pick<Platform, 'store'>, id: number): Promise<void> => {
  await store.write(
    async ({ db }) => await db.updateTable('jobs').set({ debug_trace: 1 }).where('id', '=', id).execute(),
  );
};
