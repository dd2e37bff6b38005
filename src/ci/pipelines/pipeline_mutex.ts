import type { Store } from '../../platform/db/open.ts';
import { withMutex as oneAfterAnother } from '../../platform/keyed_mutex.ts';

/**
 * Serializes work that locks a pipeline within this process. On PostgreSQL, waiting in the database would hold a
 * connection per caller and exhaust the pool. On SQLite, the single writer already serializes.
 */
export const withPipelineMutex = async <T>(
  store: Store,
  pipeline_id: number,
  work: () => Promise<T>,
): Promise<T> =>
  store.dialect.engine === 'sqlite' ? await work() : await oneAfterAnother(store, pipeline_id, work);
