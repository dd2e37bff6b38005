import type { Platform } from '../access/call.ts';
import type { Payload } from '../queue/queue.ts';
import { dropBytes } from './bytes.ts';

/** Takes away what `dropLater` named. */
export const drop = async (platform: Platform, payload: Payload): Promise<void> => {
  const project_id = Number(payload['project_id']);
  const ids = JSON.parse(String(payload['jobs'])) as number[];
  // oxlint-disable-next-line no-await-in-loop -- one file after another
  for (const id of ids) await platform.traces.remove({ project_id, id });
  await dropBytes(platform, project_id, JSON.parse(String(payload['digests'])) as string[]);
};
