/** Messages to the user after a push. */
import type { Platform } from '../../core/platform.ts';
import type { RefUpdate } from '../../platform/git/protocol_types.ts';
import { pushMessage } from '../../review/merge_requests/push/push_message.ts';
import { followPushOptions } from '../../review/merge_requests/push/push_requests.ts';
import { parsePushVariables } from '../../ci/pipelines/creation/push_variables.ts';
import { loadProject } from '../../projects/projects/find.ts';
import type { GitUser } from '../../code/repository/refs/transfer_access.ts';

export const pushMessages = async (
  platform: Platform,
  { user, projectId, baseUrl }: { user: GitUser; projectId: number; baseUrl: string },
  { updates, push_options }: { updates: readonly RefUpdate[]; push_options: readonly string[] },
): Promise<string[]> => {
  // Reload: this push may have set the default branch.
  const project = await loadProject(platform.store.db, projectId);
  if (project === null || user.cause === null) return [];
  const pushed = { project, cause: user.cause, baseUrl };
  const problems = [
    ...parsePushVariables(push_options).problems,
    ...(await followPushOptions(platform, pushed, { updates, push_options })),
  ];
  const warnings = problems.length === 0 ? [] : ['', 'WARNINGS:', ...problems.map((line) => `  ${line}`), ''];
  const lines = await pushMessage(platform, { project, viewer: user.viewer, baseUrl }, updates);
  return [...warnings, ...lines];
};
