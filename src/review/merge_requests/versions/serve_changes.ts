/** Serves the changes of a request from its stored version. Git is read only beyond the stored limits. */
import { hash } from 'node:crypto';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { Failure } from '../../../platform/errors.ts';
import { JsonText } from '../../../platform/http/endpoint.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { isBeyondLimits, isGitFailure } from '../../../platform/git/failure.ts';
import type { DiffLimits } from '../../../platform/git/protocol_types.ts';
import { diffJson } from '../../../code/repository/commits/diff_json.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { type VersionRow, versionCommitJson } from './json.ts';
import { latestVersion } from './queries.ts';
import { storedCommitItems, storedCommits, storedDiffItems, storedDiffs } from './diff_cache.ts';

/** What locates the latest version of a merge request. */
type Versioned = Pick<LoadedMergeRequest, 'project'> & {
  merge_request: Pick<LoadedMergeRequest['merge_request'], 'diff_id'>;
};

/** Limits of a complete diff. A larger diff is truncated, and the reply indicates it. */
const widest: DiffLimits = { files: 10_000, lines: 1_000_000, bytes: 32 * 1024 * 1024, file_bytes: 102_400 };

type Whole = { files: object[]; overflow: boolean };

/** Reads all files of a version that is stored in part; null if git no longer has its commits. */
const readFullDiff = async (
  { platform }: Call,
  { project }: Versioned,
  { base_commit_sha, head_commit_sha }: VersionRow,
): Promise<Whole | null> => {
  if (head_commit_sha === null) return null;
  try {
    const { diffs, overflow } = await getRepository(platform, project).ask('diff.files', {
      from: base_commit_sha,
      to: head_commit_sha,
      limits: widest,
    });
    return { files: diffs.map(diffJson), overflow };
  } catch (error) {
    if (isGitFailure(error, 'missing') || isBeyondLimits(error)) return null;
    throw error;
  }
};

type Changes = { text: JsonText; overflow: boolean };

const loadChanges = async (call: Call, loaded: Versioned, version: VersionRow | null): Promise<Changes> => {
  if (version === null) return { text: new JsonText('[]'), overflow: false };
  const whole = version.state === 'overflow' ? await readFullDiff(call, loaded, version) : null;
  if (whole === null) {
    return { text: await storedDiffs(call, version.id), overflow: version.state === 'overflow' };
  }
  return { text: new JsonText(JSON.stringify(whole.files)), overflow: whole.overflow };
};

/** Appends members to the JSON text of a non-empty object. */
const withMembers = (text: JsonText, members: [name: string, value: Buffer][], digest: string): JsonText => {
  const parts = members.flatMap(([name, value]) => [Buffer.from(`,${JSON.stringify(name)}:`), value]);
  return new JsonText(Buffer.concat([text.bytes.subarray(0, -1), ...parts, Buffer.from('}')]), digest);
};

/** Bytes of joined answers; each is as long as the changes that it ends with. */
const maxJoinedBytes = 4 * 1024 * 1024;

const getJoinedTexts = memoizePerStore((_platform: Platform) =>
  makeLruCache<JsonText>(maxJoinedBytes, ({ bytes }, key) => bytes.length + key.length + 200),
);

/** @param single the JSON of the request */
export const withChanges = async (call: Call, loaded: Versioned, single: JsonText): Promise<JsonText> => {
  const version = await latestVersion(call.db, loaded.merge_request);
  const { text, overflow } = await loadChanges(call, loaded, version);
  const digest = hash(
    'sha1',
    `${single.digest} ${version?.id} ${overflow} ${text.bytes.length}`,
    'base64url',
  );
  const joinedTexts = getJoinedTexts(call.platform);
  const joined = joinedTexts.get(digest);
  if (joined !== undefined) return joined;
  const members: [string, Buffer][] = [
    ['changes', text.bytes],
    ['overflow', Buffer.from(String(overflow))],
  ];
  const made = withMembers(single, members, digest);
  // Changes that git reads beyond the stored limits have no id of their own.
  if (version?.state !== 'overflow') joinedTexts.set(digest, made.detached);
  return made;
};

const slicePage = <T>(items: T[], { offset, limit }: PageRequest): Page<T> => ({
  items: items.slice(offset, offset + limit),
  total: items.length,
});

/** Lists the changed files of the latest version. */
export const listChanges = async (
  call: Call,
  loaded: LoadedMergeRequest,
  page: PageRequest,
): Promise<Page<unknown>> => {
  const version = await latestVersion(call.db, loaded.merge_request);
  if (version === null) return { items: [], total: 0 };
  const whole = version.state === 'overflow' ? await readFullDiff(call, loaded, version) : null;
  return whole === null
    ? slicePage<unknown>(await storedDiffItems(call, version.id), page)
    : slicePage<unknown>(whole.files, page);
};

const readOlderCommits = async (
  { platform }: Call,
  { project }: LoadedMergeRequest,
  { head_commit_sha, start_commit_sha }: VersionRow,
  { offset, limit }: PageRequest,
): Promise<object[]> => {
  if (head_commit_sha === null) return [];
  const { commits } = await getRepository(platform, project).ask('commits.list', {
    from: [head_commit_sha],
    not: start_commit_sha === null ? [] : [start_commit_sha],
    skip: offset,
    limit,
  });
  return commits.map(versionCommitJson);
};

/** Lists the commits of the latest version, newest first. Commits that are not stored are read from git. */
export const listCommits = async (
  call: Call,
  loaded: LoadedMergeRequest,
  page: PageRequest,
): Promise<Page<unknown>> => {
  const version = await latestVersion(call.db, loaded.merge_request);
  if (version === null) return { items: [], total: 0 };
  const stored = await storedCommitItems(call, version.id);
  const total = version.commits_count;
  const { offset, limit } = page;
  const isStored = offset + limit <= stored.length || stored.length >= total || offset >= total;
  if (isStored) return { items: stored.slice(offset, offset + limit), total };
  return { items: await readOlderCommits(call, loaded, version, page), total };
};

/** @param json the JSON of the version */
export const withVersionTexts = async (
  call: Call,
  version: VersionRow,
  json: JsonText,
): Promise<JsonText> => {
  const [commits, diffs] = [await storedCommits(call, version.id), await storedDiffs(call, version.id)];
  // A version never changes, so its id is the cache key.
  const digest = hash('sha1', `version ${version.id} ${json.digest}`, 'base64url');
  return withMembers(
    json,
    [
      ['commits', commits.bytes],
      ['diffs', diffs.bytes],
    ],
    digest,
  );
};

/** Maximum size of a patch, in bytes. */
const maxPatchBytes = 32 * 1024 * 1024;

/**
 * Returns the latest version as a git patch.
 * @throws Failure 422 if the patch exceeds the size limit
 */
export const rawDiff = async ({ platform, db }: Call, loaded: LoadedMergeRequest): Promise<Buffer> => {
  const version = await latestVersion(db, loaded.merge_request);
  if (version === null || version.head_commit_sha === null || version.state === 'empty')
    return Buffer.alloc(0);
  const { result, body } = await getRepository(platform, loaded.project).read('diff.raw', {
    from: version.base_commit_sha,
    to: version.head_commit_sha,
    max: maxPatchBytes,
  });
  if (!result.whole) throw new Failure('unprocessable', { message: 'The diff is too large' });
  return body;
};
