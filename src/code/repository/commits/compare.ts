/** Compares two commits of one project, or of two projects of a fork network. */
import type { Call } from '../../../core/access/call.ts';
import { badRequest } from '../../../platform/errors.ts';
import type { Commit, FileDiff, Oid } from '../../../platform/git/protocol_types.ts';
import { type Code, findCode } from '../find_code.ts';
import { getForkNetwork } from '../forks/fork_relation.ts';
import { maxComparedCommits } from '../limits.ts';
import { refusal } from '../refs/resolve.ts';
import { diffLimits } from './diff_json.ts';
import { type DiffRequest, readDiff } from './read_diff.ts';

type DiffChoice = Omit<DiffRequest, 'from' | 'to'>;

/** Returns the commit to diff from: the merge base, or `from` itself if `straight`. */
const findBase = async (
  { repository }: Code,
  [from, to]: [Oid, Oid],
  straight: boolean,
): Promise<Oid | null> => {
  if (straight) return from;
  return (await repository.ask('commits.merge_base', { ids: [from, to] })).id;
};

export type Compared = {
  commits: Commit[];
  /** The commit that the diff starts at; null if the ends have no common ancestor. */
  base: Oid | null;
  diffs: FileDiff[];
  files?: number;
  overflow: boolean;
};

/** Compares two commits of a project. @param choice what of the diff is read; default: all of it */
export const compareWithinProject = async (
  code: Code,
  ends: [Oid, Oid],
  straight: boolean,
  choice: DiffChoice = {},
): Promise<Compared> => {
  const [from, to] = ends;
  const base = await findBase(code, ends, straight);
  const [{ commits }, diff] = await Promise.all([
    code.repository.ask('commits.list', { from: [to], not: [from], skip: 0, limit: maxComparedCommits }),
    base === null ? { diffs: [], files: 0, overflow: false } : readDiff(code, { ...choice, from: base, to }),
  ]);
  return { commits, base, ...diff };
};

/**
 * Compares with a commit of another project, without copying objects into this one.
 * @param choice what of the diff is read; default: all of it
 */
export const compareAcrossProjects = async (
  { code, other }: { code: Code; other: Code },
  [from, to]: [Oid, Oid],
  straight: boolean,
  { limits = diffLimits, paths, ignore_whitespace }: DiffChoice = {},
): Promise<Compared> => {
  if (other.repository.storage !== code.repository.storage) {
    throw badRequest('the projects are on different storages');
  }
  const source = other.repository.path;
  const { base = null, ...compared } = await code.repository.ask('compare.across', {
    source,
    from,
    to,
    straight,
    limits,
    limit: maxComparedCommits,
    ...(paths !== undefined && { paths }),
    ...(ignore_whitespace === true && { ignore_whitespace }),
  });
  return { ...compared, base };
};

/** Finds the project of `from`: this one, or another of the same fork network. */
export const findSourceProject = async (
  call: Call,
  code: Code,
  id: number | string | undefined,
): Promise<Code> => {
  if (id === undefined) return code;
  const source = await findCode(call, id);
  if (source.project.id === code.project.id) return code;
  if (getForkNetwork(source.project) === getForkNetwork(code.project)) return source;
  throw refusal(
    'bad_request',
    `Target project id:${source.project.id} is not a fork of project id:${code.project.id}`,
  );
};
