/** The branch or tag that a text means, as those write it who ask for pipelines. */
import type { Oid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { branchPrefix, refsNamed, tagPrefix } from '../repository/resolve.ts';
import type { PipelineRef } from './predefined.ts';

export type NamedRef = { ref: PipelineRef & { type: 'branch' | 'tag' }; sha: Oid };

const shortened = (text: string, prefix: string): string | null =>
  text.startsWith(prefix) ? text.slice(prefix.length) : null;

/** By its short name, a branch before a tag, or by its full one; null: there is none. */
export const namedRef = async (repository: Repository, text: string): Promise<NamedRef | null> => {
  const branch = shortened(text, branchPrefix);
  const tag = shortened(text, tagPrefix);
  const [asBranch, asTag] = await refsNamed(repository, [
    branchPrefix + (branch ?? text),
    tagPrefix + (tag ?? text),
  ]);
  if (tag === null && asBranch?.commit)
    return { ref: { name: branch ?? text, type: 'branch' }, sha: asBranch.commit };
  if (branch === null && asTag?.commit) return { ref: { name: tag ?? text, type: 'tag' }, sha: asTag.commit };
  return null;
};
