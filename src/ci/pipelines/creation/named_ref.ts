/** Resolves the branch or tag that a pipeline is requested for. */
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { branchPrefix, loadRefs, tagPrefix } from '../../../code/repository/refs/resolve.ts';
import type { PipelineRef } from '../predefined_variables/pipeline_predefined.ts';

export type NamedRef = { ref: PipelineRef & { type: 'branch' | 'tag' }; sha: Oid };

const withoutPrefix = (text: string, prefix: string): string | null =>
  text.startsWith(prefix) ? text.slice(prefix.length) : null;

/** Finds a branch or tag by short or full name; a branch wins over a tag. Returns null if there is none. */
export const resolveNamedRef = async (repository: Repository, text: string): Promise<NamedRef | null> => {
  const branch = withoutPrefix(text, branchPrefix);
  const tag = withoutPrefix(text, tagPrefix);
  const [branchCommit, tagCommit] = await loadRefs(repository, [
    branchPrefix + (branch ?? text),
    tagPrefix + (tag ?? text),
  ]);
  if (tag === null && branchCommit?.commit)
    return { ref: { name: branch ?? text, type: 'branch' }, sha: branchCommit.commit };
  if (branch === null && tagCommit?.commit)
    return { ref: { name: tag ?? text, type: 'tag' }, sha: tagCommit.commit };
  return null;
};
