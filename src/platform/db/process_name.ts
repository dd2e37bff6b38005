import { randomUUID } from 'node:crypto';

/** Random name of this process, which identifies it as holder of leases and operations in the store. */
export const processName = randomUUID();

/**
 * Application name of its connections to PostgreSQL: the pool's connections, and the listener that stays open while the
 * process runs.
 */
export const connectionName = `gantry ${processName}`;
export const listenerName = `gantry listens ${processName}`;
