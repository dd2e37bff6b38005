/** Marks jobs whose shell prints each command with the values of its variables: fewer people may read their trace. */
import type { Platform } from '../../core/platform.ts';

const names = new Set(['CI_DEBUG_TRACE', 'CI_DEBUG_SERVICES']);

export const isDebugged = (variables: readonly { key: string; value: string }[]): boolean =>
  variables.some(({ key, value }) => names.has(key) && value.trim().toLowerCase() === 'true');

/** Stores the mark before any of the trace is readable. */
export const markDebugTrace = async ({ store }: Pick<Platform, 'store'>, id: number): Promise<void> => {
  await store.write(
    async ({ db }) => await db.updateTable('jobs').set({ debug_trace: 1 }).where('id', '=', id).execute(),
  );
};
