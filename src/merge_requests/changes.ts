/** What a request changes: from the stored version, as a text that was made once. Git is asked only past its limits. */
import { hash } from 'node:crypto';
import type { Call } from '../access/call.ts';
import { Failure } from '../errors.ts';
import { JsonText } from '../http/endpoint.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { isBeyondLimits, isGitFailure } from '../git/failure.ts';
import type { DiffLimits } from '../git/protocol_types.ts';
import { diffJson } from '../repository/diff_json.ts';
import { repositoryOf } from '../repository/open.ts';
import type { FoundMergeRequest } from './find.ts';
import { type VersionRow, versionCommitJson } from './version_json.ts';
import { latestVersion } from './version_queries.ts';
import { storedCommitItems, storedCommits, storedDiffItems, storedDiffs } from './version_texts.ts';

/** More than any review reads; past these an answer says that it is not whole. */
const widest: DiffLimits = { files: 10_000, lines: 1_000_000, bytes: 32 * 1024 * 1024, file_bytes: 102_400 };

type Whole = { files: object[]; overflow: boolean };

/** All files of a version that is stored in part; null where git does not have its commits. */
const askWhole = async (
  { platform }: Call,
  { project }: FoundMergeRequest,
  { base_commit_sha, head_commit_sha }: VersionRow,
): Promise<Whole | null> => {
  if (head_commit_sha === null) return null;
  try {
    const { diffs, overflow } = await repositoryOf(platform, project).ask('diff.files', {
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

const changesOf = async (
  call: Call,
  found: FoundMergeRequest,
  version: VersionRow | null,
): Promise<Changes> => {
  if (version === null) return { text: new JsonText('[]'), overflow: false };
  const whole = version.state === 'overflow' ? await askWhole(call, found, version) : null;
  if (whole === null) {
    return { text: await storedDiffs(call, version.id), overflow: version.state === 'overflow' };
  }
  return { text: new JsonText(JSON.stringify(whole.files)), overflow: whole.overflow };
};

/** An object's JSON with more members behind its own; it has some. */
const withMembers = (text: JsonText, members: [name: string, value: Buffer][], digest: string): JsonText => {
  const parts = members.flatMap(([name, value]) => [Buffer.from(`,${JSON.stringify(name)}:`), value]);
  return new JsonText(Buffer.concat([text.bytes.subarray(0, -1), ...parts, Buffer.from('}')]), digest);
};

/** @param single the request's own JSON */
export const withChanges = async (
  call: Call,
  found: FoundMergeRequest,
  single: JsonText,
): Promise<JsonText> => {
  const version = await latestVersion(call.db, found.merge_request);
  const { text, overflow } = await changesOf(call, found, version);
  const digest = hash(
    'sha1',
    `${single.digest} ${version?.id} ${overflow} ${text.bytes.length}`,
    'base64url',
  );
  const members: [string, Buffer][] = [
    ['changes', text.bytes],
    ['overflow', Buffer.from(String(overflow))],
  ];
  return withMembers(single, members, digest);
};

const pageOf = <T>(items: T[], { offset, limit }: PageRequest): Page<T> => ({
  items: items.slice(offset, offset + limit),
  total: items.length,
});

/** The changed files of the latest version. */
export const listChanges = async (
  call: Call,
  found: FoundMergeRequest,
  page: PageRequest,
): Promise<Page<unknown>> => {
  const version = await latestVersion(call.db, found.merge_request);
  if (version === null) return { items: [], total: 0 };
  const whole = version.state === 'overflow' ? await askWhole(call, found, version) : null;
  return whole === null
    ? pageOf<unknown>(await storedDiffItems(call, version.id), page)
    : pageOf<unknown>(whole.files, page);
};

const oldCommits = async (
  { platform }: Call,
  { project }: FoundMergeRequest,
  { head_commit_sha, start_commit_sha }: VersionRow,
  { offset, limit }: PageRequest,
): Promise<object[]> => {
  if (head_commit_sha === null) return [];
  const { commits } = await repositoryOf(platform, project).ask('commits.list', {
    from: [head_commit_sha],
    not: start_commit_sha === null ? [] : [start_commit_sha],
    skip: offset,
    limit,
  });
  return commits.map(versionCommitJson);
};

/** The commits of the latest version, newest first; such as are not stored, git is asked for. */
export const listCommits = async (
  call: Call,
  found: FoundMergeRequest,
  page: PageRequest,
): Promise<Page<unknown>> => {
  const version = await latestVersion(call.db, found.merge_request);
  if (version === null) return { items: [], total: 0 };
  const stored = await storedCommitItems(call, version.id);
  const total = version.commits_count;
  const { offset, limit } = page;
  const isStored = offset + limit <= stored.length || stored.length >= total || offset >= total;
  if (isStored) return { items: stored.slice(offset, offset + limit), total };
  return { items: await oldCommits(call, found, version, page), total };
};

/** @param json the version's own JSON */
export const withVersionTexts = async (
  call: Call,
  version: VersionRow,
  json: JsonText,
): Promise<JsonText> => {
  const [commits, diffs] = [await storedCommits(call, version.id), await storedDiffs(call, version.id)];
  // A version never changes: its id says all.
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

/** Bytes of a patch that is sent as one text. */
const longestPatch = 32 * 1024 * 1024;

/**
 * The latest version as git writes it.
 * @throws Failure 422 for one that is too long to be one text
 */
export const rawDiff = async ({ platform, db }: Call, found: FoundMergeRequest): Promise<Buffer> => {
  const version = await latestVersion(db, found.merge_request);
  if (version === null || version.head_commit_sha === null || version.state === 'empty')
    return Buffer.alloc(0);
  const { result, body } = await repositoryOf(platform, found.project).read('diff.raw', {
    from: version.base_commit_sha,
    to: version.head_commit_sha,
    max: longestPatch,
  });
  if (!result.whole) throw new Failure('unprocessable', { message: 'The diff is too large' });
  return body;
};
