/** Finds the commits of a version, for people who review commit by commit. */
import type { Call } from '../../../core/access/call.ts';
import { notFound } from '../../../platform/errors.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { storedCommitItems } from './diff_cache.ts';
import type { VersionCommit, VersionRow } from './json.ts';

export type ChosenCommit = {
  id: Oid;
  title: string;
  /** null if it is the first commit of the repository. */
  parent: Oid | null;
  /** Its place among the stored commits, the oldest first, from 1. */
  number: number;
  total: number;
  previous: Oid | null;
  next: Oid | null;
};

const parse = ({ bytes }: JsonText): VersionCommit => JSON.parse(bytes.toString('utf8')) as VersionCommit;

/** Finds a commit by its id among the stored commits. @throws Failure 404 */
export const findVersionCommit = async (
  call: Call,
  { id: versionId }: Pick<VersionRow, 'id'>,
  sha: string,
): Promise<ChosenCommit> => {
  const commits = (await storedCommitItems(call, versionId)).map(parse).toReversed();
  const at = commits.findIndex(({ id }) => id === sha);
  const commit = commits[at];
  if (commit === undefined) throw notFound('Commit');
  const { id, title, parent_ids } = commit;
  return {
    id,
    title,
    parent: parent_ids[0] ?? null,
    number: at + 1,
    total: commits.length,
    previous: commits[at - 1]?.id ?? null,
    next: commits[at + 1]?.id ?? null,
  };
};

/** Returns the oldest stored commit of a version; null if it has none. */
export const firstVersionCommit = async (call: Call, { id }: Pick<VersionRow, 'id'>): Promise<Oid | null> => {
  const oldest = (await storedCommitItems(call, id)).at(-1);
  return oldest === undefined ? null : parse(oldest).id;
};
