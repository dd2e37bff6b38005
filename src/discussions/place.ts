/** Finds the line of the diff that a comment is to stand at. */
import type { Call } from '../access/call.ts';
import { zeroOid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import type { Found } from '../issuables/target.ts';
import type { LineEnd, Position, TextPosition } from '../notes/position.ts';
import { type DiffLine, findLine } from '../repository/hunks.ts';
import { lineCode } from './line_code.ts';
import { type GivenPosition, noSuchLine } from './position.ts';
import { type VersionDiff, diffTextOf, versionOf, wholeFiles } from './versions.ts';

/** @throws Failure 400 where the line is not there */
const placeInFile = async (
  given: GivenPosition,
  start_sha: string,
  file: VersionDiff,
  text: () => Promise<string> | string,
): Promise<Position> => {
  const { old_path, new_path } = file;
  const place = { start_sha, old_path, new_path };
  if (given.position_type !== 'text') return { ...given, ...place };
  return { ...given, ...place, ...placeLines({ ...file, diff: await text() }, given) };
};

/**
 * The same, in what a commit changed.
 * @param parent null: it is the first
 * @throws Failure 400
 */
export const placeInCommit = async (
  repository: Repository,
  { id, parent }: { id: string; parent: string | null },
  given: GivenPosition,
): Promise<Position> => {
  const isOfIt = given.head_sha === id && given.base_sha === (parent ?? zeroOid);
  const paths = [given.new_path, given.old_path].filter((path) => path !== null);
  if (!isOfIt) throw noSuchLine();
  const { diffs } = await repository.ask('diff.files', { from: parent, to: id, limits: wholeFiles, paths });
  const file = fileOf(diffs, given);
  if (file === undefined) throw noSuchLine();
  return await placeInFile(given, given.base_sha, file, () => file.diff);
};

/** The file that the paths name: the new one decides, an old one alone will do. */
const fileOf = (files: VersionDiff[], { old_path, new_path }: GivenPosition): VersionDiff | undefined =>
  files.find((file) => file.new_path === new_path) ??
  files.find((file) => file.old_path === (old_path ?? new_path));

/** As `lineCode` writes it: the line's numbers on both sides. */
const codePattern = /_(\d{1,10})_(\d{1,10})$/;

/** The line that is named by its numbers, or by its code and its side. */
const namedBy = ({ old_line, new_line, line_code, type }: LineEnd): DiffLine => {
  if (old_line !== null || new_line !== null) return { old_line, new_line };
  const [, old_at, new_at] = codePattern.exec(line_code ?? '') ?? [];
  return {
    old_line: type === 'new' || old_at === undefined ? null : Number(old_at),
    new_line: type === 'old' || new_at === undefined ? null : Number(new_at),
  };
};

const placeEnd = (file: VersionDiff, end: LineEnd): LineEnd => {
  const named = namedBy(end);
  const isNamed = named.old_line !== null || named.new_line !== null;
  const line = isNamed ? findLine(file.diff, named) : null;
  if (line === null) throw noSuchLine();
  const type = line.old_line === null ? 'new' : line.new_line === null ? 'old' : null;
  return { line_code: lineCode(file, line), type, ...line };
};

/** @throws Failure 400 */
const placeLines = (file: VersionDiff, given: Pick<TextPosition, 'old_line' | 'new_line' | 'line_range'>) => {
  const line = findLine(file.diff, given);
  if (line === null) throw noSuchLine();
  const { line_range: range } = given;
  if (range === null) return { ...line, line_range: null };
  return { ...line, line_range: { start: placeEnd(file, range.start), end: placeEnd(file, range.end) } };
};

/**
 * The position as it is stored: paths and lines as the named version of the merge request shows them.
 * @throws Failure 400 where the version, the file or the line is not there
 */
export const placeInDiff = async (call: Call, found: Found, given: GivenPosition): Promise<Position> => {
  const version = await versionOf(call.db, found.target.id, given);
  const file = version === null ? undefined : fileOf(version.files, given);
  if (version === null || file === undefined) throw noSuchLine();
  const text = async () => await diffTextOf(call.platform, found.project, version, file);
  return await placeInFile(given, version.start_sha, file, text);
};
