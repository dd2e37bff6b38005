/** Refuses commits that another repository would bring into one that is full. */
import type { Call } from '../../../core/access/call.ts';
import { badRequest } from '../../../platform/errors.ts';
import type { Code } from '../find_code.ts';
import { sizeProblem } from './push_policy.ts';
import { getQuota } from './transfer_access.ts';

/** @throws Failure 400 if the repository, with what was copied into it, is larger than it may be */
export const requireRoom = async ({ platform }: Call, { repository }: Code): Promise<void> => {
  const { repository_bytes } = getQuota(platform.config);
  if (repository_bytes === null) return;
  const { size } = await repository.ask('repository.statistics', {});
  const problem = sizeProblem(size, repository_bytes, 'commit');
  if (problem !== null) throw badRequest(problem);
};
