/** What a pusher reads after his push. */
import type { Platform } from '../access/call.ts';
import type { RefUpdate } from '../git/protocol_types.ts';
import { pushMessage } from '../merge_requests/push_message.ts';
import { followPushOptions } from '../merge_requests/push_requests.ts';
import { pushVariables } from '../pipelines/push_variables.ts';
import { loadProject } from '../projects/find.ts';
import type { GitUser } from '../repository/transfer.ts';

export const pushMessages = async (
  platform: Platform,
  { user, projectId, baseUrl }: { user: GitUser; projectId: number; baseUrl: string },
  { updates, push_options }: { updates: readonly RefUpdate[]; push_options: readonly string[] },
): Promise<string[]> => {
  // As it is now: its default branch may have come with this push.
  const project = await loadProject(platform.store.db, projectId);
  if (project === null || user.cause === null) return [];
  const pushed = { project, cause: user.cause, baseUrl };
  const problems = [
    ...pushVariables(push_options).problems,
    ...(await followPushOptions(platform, pushed, { updates, push_options })),
  ];
  const warnings = problems.length === 0 ? [] : ['', 'WARNINGS:', ...problems.map((line) => `  ${line}`), ''];
  const lines = await pushMessage(platform, { project, viewer: user.viewer, baseUrl }, updates);
  return [...warnings, ...lines];
};
