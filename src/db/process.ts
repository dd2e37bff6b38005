import { randomUUID } from 'node:crypto';

/** This process among those that use the store: work that one has begun tells by it whose it is. */
export const processName = randomUUID();

/** What its connections to PostgreSQL are called: those of the pool, and the one that listens as long as it lives. */
export const connectionName = `gantry ${processName}`;
export const listenerName = `gantry listens ${processName}`;
