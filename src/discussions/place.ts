/** Finds the line of the diff that a comment is to stand at. */
import type { Call } from '../access/call.ts';
import type { Found } from '../issuables/target.ts';
import type { Position } from '../notes/position.ts';
import { findLine } from './hunks.ts';
import { type GivenPosition, noSuchLine } from './position.ts';
import { type VersionDiff, diffTextOf, versionOf } from './versions.ts';

/** The file that the paths name: the new one decides, an old one alone will do. */
const fileOf = (files: VersionDiff[], { old_path, new_path }: GivenPosition): VersionDiff | undefined =>
  files.find((file) => file.new_path === new_path) ??
  files.find((file) => file.old_path === (old_path ?? new_path));

/**
 * The position as it is stored: paths and lines as the named version of the merge request shows them.
 * @throws Failure 400 where the version, the file or the line is not there
 */
export const placeInDiff = async (call: Call, found: Found, given: GivenPosition): Promise<Position> => {
  const version = await versionOf(call.db, found.target.id, given);
  const file = version === null ? undefined : fileOf(version.files, given);
  if (version === null || file === undefined) throw noSuchLine();
  const line = findLine(await diffTextOf(call.platform, found.project, version, file), given);
  if (line === null) throw noSuchLine();
  const { old_path, new_path } = file;
  return { ...given, start_sha: version.start_sha, old_path, new_path, ...line };
};
