/** The messages of a merge that gives none. */
import type { Platform } from '../../../core/platform.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import { filterVisible, loadClosingIssues } from '../issues/closing_references.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { defaultMergeMessage, defaultSquashMessage } from './merge_message.ts';

/** Issues that the merger may not see are not named. */
export const loadMergeMessage = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  viewer: Viewer,
  baseUrl?: string,
): Promise<string> => {
  const { db } = platform.store;
  const issues = await loadClosingIssues(platform, db, loaded, baseUrl);
  return defaultMergeMessage(loaded.merge_request, loaded.project, await filterVisible(db, viewer, issues));
};

export type MergeMessages = { merge: string; squash: string };

/** Returns the messages that a form proposes. */
export const loadDefaultMessages = async (
  { platform, viewer, baseUrl }: { platform: Platform; viewer: Viewer; baseUrl: string },
  loaded: LoadedMergeRequest,
): Promise<MergeMessages> => ({
  merge: await loadMergeMessage(platform, loaded, viewer, baseUrl),
  squash: defaultSquashMessage(loaded.merge_request),
});
