/** Every kind of background work, by name: each is one call into an operation. */
import type { Platform } from './access/call.ts';
import { namespaceWork } from './namespaces/work.ts';
import { projectWork } from './projects/work.ts';
import type { WorkHandler } from './queue/queue.ts';

export const workHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  ...namespaceWork(platform),
  ...projectWork(platform),
});
