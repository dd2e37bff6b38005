/** Every kind of background work, by name: each is one call into an operation. */
import type { Platform } from './access/call.ts';
import type { WorkHandler } from './queue/queue.ts';

export const workHandlers = (_platform: Platform): { [name: string]: WorkHandler } => ({});
