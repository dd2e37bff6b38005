import type { Store } from '../db/open.ts';
import { inTurn as oneAfterAnother } from '../in_turn.ts';

/**
 * Runs what begins by taking the pipeline's lock once those before it in this process are done: in PostgreSQL, a
 * connection would wait with each, and those who only read would find none. SQLite's one writer has its own order.
 */
export const inTurn = async <T>(store: Store, pipeline_id: number, work: () => Promise<T>): Promise<T> =>
  store.words.engine === 'sqlite' ? await work() : await oneAfterAnother(store, pipeline_id, work);
