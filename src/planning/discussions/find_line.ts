/** Finds the line of a diff that a requested position refers to. */
import type { Call } from '../../core/access/call.ts';
import { zeroOid } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import type { LoadedNoteable } from '../issuables/target.ts';
import type { LineEnd, Position, TextPosition } from '../notes/position.ts';
import { type DiffLine, findLine } from '../../code/repository/commits/hunks.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import { lineCode } from './line_code.ts';
import { type PositionInput, noSuchLine } from './position_param.ts';
import { type VersionDiff, hasCommit, loadDiffText, loadVersion, wholeFiles } from './diff_versions.ts';

/** Completes a position from its file. @throws Failure 400 if the line does not exist */
const completePosition = async (
  requested: PositionInput,
  start_sha: string,
  file: VersionDiff,
  text: () => Promise<string> | string,
): Promise<Position> => {
  const { old_path, new_path } = file;
  const place = { start_sha, old_path, new_path };
  if (requested.position_type !== 'text') return { ...requested, ...place };
  return { ...requested, ...place, ...completeLines({ ...file, diff: await text() }, requested) };
};

/**
 * Completes a position in the diff of a commit.
 * @param parent null if the commit is the first one
 * @throws Failure 400
 */
export const locateInCommit = async (
  repository: Repository,
  { id, parent }: { id: string; parent: string | null },
  requested: PositionInput,
): Promise<Position> => {
  const isForThisCommit = requested.head_sha === id && requested.base_sha === (parent ?? zeroOid);
  const paths = [requested.new_path, requested.old_path].filter((path) => path !== null);
  if (!isForThisCommit) throw noSuchLine();
  const { diffs } = await repository.ask('diff.files', { from: parent, to: id, limits: wholeFiles, paths });
  const file = findFile(diffs, requested);
  if (file === undefined) throw noSuchLine();
  return await completePosition(requested, requested.base_sha, file, () => file.diff);
};

/** Finds the file by its new path, else by its old path. */
const findFile = (files: VersionDiff[], { old_path, new_path }: PositionInput): VersionDiff | undefined =>
  files.find((file) => file.new_path === new_path) ??
  files.find((file) => file.old_path === (old_path ?? new_path));

/** Matches the line numbers at the end of a line code, as `lineCode` writes them. */
const codePattern = /_(\d{1,10})_(\d{1,10})$/;

/** Returns the line given by its numbers, or by its code and side. */
const requestedLine = ({ old_line, new_line, line_code, type }: LineEnd): DiffLine => {
  if (old_line !== null || new_line !== null) return { old_line, new_line };
  const [, old_at, new_at] = codePattern.exec(line_code ?? '') ?? [];
  return {
    old_line: type === 'new' || old_at === undefined ? null : Number(old_at),
    new_line: type === 'old' || new_at === undefined ? null : Number(new_at),
  };
};

const completeEnd = (file: VersionDiff, end: LineEnd): LineEnd => {
  const named = requestedLine(end);
  const isNamed = named.old_line !== null || named.new_line !== null;
  const line = isNamed ? findLine(file.diff, named) : null;
  if (line === null) throw noSuchLine();
  const type = line.old_line === null ? 'new' : line.new_line === null ? 'old' : null;
  return { line_code: lineCode(file, line), type, ...line };
};

/** Completes the lines of a position. @throws Failure 400 if one does not exist */
const completeLines = (
  file: VersionDiff,
  requested: Pick<TextPosition, 'old_line' | 'new_line' | 'line_range'>,
) => {
  const line = findLine(file.diff, requested);
  if (line === null) throw noSuchLine();
  const { line_range: range } = requested;
  if (range === null) return { ...line, line_range: null };
  return {
    ...line,
    line_range: { start: completeEnd(file, range.start), end: completeEnd(file, range.end) },
  };
};

/** Returns the parent of a commit of a merge request; null if it is the first one. @throws Failure 400 for others */
const findParent = async (
  { db }: Call,
  repository: Repository,
  { mergeRequestId, sha }: { mergeRequestId: number; sha: string },
): Promise<string | null> => {
  if (!(await hasCommit(db, mergeRequestId, sha))) throw noSuchLine();
  const [commit] = (await repository.ask('commits.get', { ids: [sha] })).commits;
  if (commit === undefined || commit === null) throw noSuchLine();
  return commit.parents[0] ?? null;
};

/**
 * Returns the position to store, with the paths and lines of the requested version of the merge request, or of one of
 * its commits.
 * @throws Failure 400 if the version, the file or the line does not exist
 */
export const locateInDiff = async (
  call: Call,
  loaded: LoadedNoteable,
  requested: PositionInput,
): Promise<Position> => {
  const version = await loadVersion(call.db, loaded.target.id, requested);
  if (version === null) {
    const repository = getRepository(call.platform, loaded.project);
    const { head_sha: id } = requested;
    const parent = await findParent(call, repository, { mergeRequestId: loaded.target.id, sha: id });
    return await locateInCommit(repository, { id, parent }, requested);
  }
  const file = findFile(version.files, requested);
  if (file === undefined) throw noSuchLine();
  const text = async () => await loadDiffText(call.platform, loaded.project, version, file);
  return await completePosition(requested, version.start_sha, file, text);
};
