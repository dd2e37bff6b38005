/** Loads the counts in the tabs of a merge request. */
import { countRequestPipelines } from '../../../../../ci/pipelines/merge_request_pipelines.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { type LineCounts, countLines } from '../../../../../review/merge_requests/versions/line_counts.ts';
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import { countVersions, latestVersion } from '../../../../../review/merge_requests/versions/queries.ts';
import type { Visit } from '../../../page.ts';

export type TabCounts = {
  /** The latest version; null if the source branch was never read. */
  version: VersionRow | null;
  versions: number;
  /** null if the viewer may not see them. */
  pipelines: number | null;
  /** null if the version is stored in part. */
  lines: LineCounts | null;
};

export const loadTabCounts = async ({ call }: Visit, loaded: LoadedMergeRequest): Promise<TabCounts> => {
  const [version, versions, pipelines] = await Promise.all([
    latestVersion(call.db, loaded.merge_request),
    countVersions(call.db, loaded.target.id),
    countRequestPipelines(call, loaded),
  ]);
  return { version, versions, pipelines, lines: version === null ? null : await countLines(call, version) };
};
