import type { Platform } from '../access/call.ts';
import { dropWork } from '../pipelines/drop_files.ts';
import type { WorkHandler } from '../queue/queue.ts';
import { drop } from './drop.ts';
import { expireProject, expireProjectWork } from './expiry.ts';

export const artifactWork = (platform: Platform): { [name: string]: WorkHandler } => ({
  [dropWork]: async (payload) => await drop(platform, payload),
  [expireProjectWork]: async (payload) => await expireProject(platform, payload),
});
