/** Loads the diffs that the Changes tab shows. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import { lastReviewedVersion } from '../../../../../review/merge_requests/approvals/last_review.ts';
import {
  type ChosenCommit,
  findVersionCommit,
  firstVersionCommit,
} from '../../../../../review/merge_requests/versions/version_commits.ts';
import { findVersion, listVersions } from '../../../../../review/merge_requests/versions/queries.ts';
import {
  type VersionDiffRequest,
  findInterdiffBase,
  readVersionDiff,
} from '../../../../../review/merge_requests/versions/version_diff.ts';
import {
  type ViewedFiles,
  loadViewedFiles,
} from '../../../../../review/merge_requests/viewed/viewed_files.ts';
import { notFound } from '../../../../../platform/errors.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import type { FileDiff, Oid } from '../../../../../platform/git/protocol_types.ts';
import type { Visit } from '../../../page.ts';
import { withAnonymousSlot } from '../../../../../core/access/anonymous_slots.ts';
import type { ShownDiff } from '../../../parts/diff/folding/collapse_reason.ts';
import { markFolded } from '../../../parts/diff/folding/mark_folded.ts';
import { getRepository } from '../../../../../code/repository/get_repository.ts';
import { preferredView } from '../../../parts/diff/diff_choice.ts';
import { orderFiles } from '../../../parts/diff/file_tree.ts';
import type { DiffView } from '../../../request/preferences.ts';
import type { ChangesQuery } from './changes_address.ts';

/** Versions that the menus list, and that a version can be compared with. */
export const maxComparedVersions = 50;

export type Changes = {
  loaded: LoadedMergeRequest;
  query: ChangesQuery;
  view: DiffView;
  ignoresWhitespace: boolean;
  /** Newest first. */
  versions: VersionRow[];
  totalVersions: number;
  /** The version to show; null if there is none yet. */
  version: VersionRow | null;
  /** The older version that it is compared with; null: the base. */
  since: VersionRow | null;
  /** The only commit whose changes are shown; null: all of them. */
  commit: ChosenCommit | null;
  /** The oldest commit of the version; null if it has none. */
  firstCommit: Oid | null;
  /** The version that the viewer has reviewed, if there is a newer one. */
  reviewed: VersionRow | null;
  /** Both ends of the diff; null: nothing to compare. */
  ends: [from: Oid | null, to: Oid] | null;
  files: ShownDiff[];
  /** Exact number of files, even if the list was cut. */
  totalFiles: number;
  overflow: boolean;
  /** Reason why there is no list of files, or why it is larger than expected; null if neither applies. */
  notice: string | null;
  viewed: ViewedFiles;
};

/** Finds the older version of a comparison by its head. @throws Failure 404 */
const findSince = (
  versions: readonly VersionRow[],
  version: VersionRow,
  startSha: string | undefined,
): VersionRow | null => {
  if (startSha === undefined || startSha === '') return null;
  const since = versions.find(({ id, head_commit_sha }) => head_commit_sha === startSha && id < version.id);
  if (since === undefined) throw notFound('Version');
  return since;
};

type Compared = Pick<Changes, 'ends' | 'files' | 'totalFiles' | 'overflow' | 'notice'>;

const nothing = (notice: string | null): Compared => ({
  ends: null,
  files: [],
  totalFiles: 0,
  overflow: false,
  notice,
});

/** Hides files whose lines differ in white space only. */
const withoutEqual = (files: FileDiff[]): FileDiff[] =>
  files.filter(
    ({ diff, renamed_file, new_file, deleted_file, binary, too_large, a_mode, b_mode }) =>
      diff !== '' || renamed_file || new_file || deleted_file || binary || too_large || a_mode !== b_mode,
  );

const compare = async (
  visit: Visit,
  { project }: LoadedMergeRequest,
  {
    version,
    since,
    commit,
    ignoresWhitespace,
  }: Pick<Changes, 'version' | 'since' | 'commit' | 'ignoresWhitespace'>,
): Promise<Compared> => {
  const { call } = visit;
  if (version?.head_commit_sha === null || version === null)
    return nothing('The source branch has no commits yet.');
  const to = commit?.id ?? version.head_commit_sha;
  const base =
    since === null
      ? { from: commit === null ? version.base_commit_sha : commit.parent, isExact: true }
      : await findInterdiffBase(call, project, [since, version]);
  const request: VersionDiffRequest = { from: base.from, to, ignore_whitespace: ignoresWhitespace };
  const read = await withAnonymousSlot(visit, async () => await readVersionDiff(call, project, request));
  if (read === null)
    return nothing('The commits of this version no longer exist, or they differ in too much.');
  const { diffs, files, overflow } = read;
  const shown = ignoresWhitespace ? withoutEqual(diffs) : diffs;
  return {
    ends: [base.from, to],
    files: orderFiles(await markFolded(getRepository(call.platform, project), to, shown)),
    totalFiles: overflow ? files : shown.length,
    overflow,
    notice: base.isExact
      ? null
      : 'The source branch was rebased in between, with conflicts: these diffs also have changes of the target branch.',
  };
};

/** @throws Failure 404 */
const findCommit = async (
  { call }: Visit,
  version: VersionRow,
  sha: string | undefined,
): Promise<ChosenCommit | null> =>
  sha === undefined || sha === '' ? null : await findVersionCommit(call, version, sha);

/** @throws Failure 404 for a version or commit that is not of the merge request */
export const loadChanges = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: ChangesQuery,
): Promise<Changes> => {
  const { call } = visit;
  const { view, w: ignoresWhitespace } = preferredView(visit, query);
  const { id } = loaded.merge_request;
  const [{ items: versions, total: totalVersions }, viewed] = await Promise.all([
    listVersions(call.db, id, pageRequest({ per_page: maxComparedVersions })),
    loadViewedFiles(call, loaded),
  ]);
  const version =
    query.diff_id === undefined
      ? (versions[0] ?? null)
      : (versions.find((one) => one.id === query.diff_id) ?? (await findVersion(call.db, id, query.diff_id)));
  const commit = version === null ? null : await findCommit(visit, version, query.commit_id);
  const since = version === null || commit !== null ? null : findSince(versions, version, query.start_sha);
  const compared = await compare(visit, loaded, { version, since, commit, ignoresWhitespace });
  const reviewed = await lastReviewedVersion(call, loaded, versions);
  const firstCommit = version === null ? null : await firstVersionCommit(call, version);
  const chosen = { versions, totalVersions, version, since, commit, firstCommit, reviewed };
  return { loaded, query, view, ignoresWhitespace, viewed, ...chosen, ...compared };
};
