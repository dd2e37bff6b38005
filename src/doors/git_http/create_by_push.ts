import { openCallWithoutRequest } from '../../core/access/call_without_request.ts';
import type { Platform } from '../../core/platform.ts';
import { Failure } from '../../platform/errors.ts';
import { createProjectByPush } from '../../projects/projects/create_by_push.ts';
import type { Project } from '../../projects/projects/find.ts';
import { type GitService, type GitUser, mayUse } from '../../code/repository/refs/transfer_access.ts';

type Push = { service: GitService; path: string; baseUrl: string };

/** Returns the problems of a new project: `path has already been taken`. The name is the path, so it has the same. */
const problemText = (message: unknown): string => {
  if (typeof message !== 'object' || message === null) return String(message);
  if (Array.isArray(message)) return message.join('. ');
  return Object.entries(message)
    .filter(([name]) => name !== 'name')
    .map(([name, problems]) => `${name} ${[problems].flat().join(', ')}`)
    .join('. ');
};

/**
 * Creates a project for a push to a path that does not exist.
 * @returns the project, or the reason for refusal; null if the path counts as missing
 */
export const createForPush = async (
  platform: Platform,
  user: GitUser,
  { service, path, baseUrl }: Push,
): Promise<Project | string | null> => {
  const { cause } = user;
  if (service !== 'git-receive-pack' || cause === null || !mayUse(user, service)) return null;
  const call = await openCallWithoutRequest(platform, { cause, baseUrl });
  if (call === null) return null;
  try {
    return await createProjectByPush(call, path);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { message } = (error.body ?? {}) as { message?: unknown };
    return `The project could not be created: ${problemText(message)}`;
  }
};
