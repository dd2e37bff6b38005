import { isGitFailure } from '../../../platform/git/failure.ts';
import type { DiffLimits, FileDiff, Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { diffLimits } from './diff_json.ts';

export type DiffRequest = {
  /** null: the empty tree. */
  from: Oid | null;
  to: Oid;
  limits?: DiffLimits;
  /** Only these paths. */
  paths?: string[] | undefined;
  /** Lines that differ in white space only count as equal. */
  ignore_whitespace?: boolean | undefined;
};

export type ReadDiff = {
  diffs: FileDiff[];
  /** Exact number of files, even if the list was cut. */
  files: number;
  overflow: boolean;
};

/** Reads a diff. A diff too large for git is returned without files, as an overflow. */
export const readDiff = async (
  { repository }: Pick<Code, 'repository'>,
  { from, to, limits = diffLimits, paths, ignore_whitespace }: DiffRequest,
): Promise<ReadDiff> => {
  try {
    return await repository.ask('diff.files', {
      from,
      to,
      limits,
      ...(paths !== undefined && { paths }),
      ...(ignore_whitespace === true && { ignore_whitespace }),
    });
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return { diffs: [], files: 0, overflow: true };
    throw error;
  }
};
