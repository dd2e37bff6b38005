/** Fills an empty repository with the branches and tags of another server. */
import { pipeline } from 'node:stream/promises';
import { formatBytes } from '../../../platform/format_bytes.ts';
import { publishReached } from '../../../platform/git/durability_points.ts';
import { type GitFailure, isGitFailure } from '../../../platform/git/failure.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import type { ImportSource } from '../../../projects/projects/imports/import_source.ts';
import { branchPrefix } from '../refs/resolve.ts';
import { ImportFailure } from './import_failure.ts';
import { type RemoteAccess, type RemoteRepository, openRemote } from './remote_repository.ts';

/** Seconds to set all refs. */
const refsTimeout = 3_600;

export type Received = {
  /** True if there is any branch or tag. */
  hasRefs: boolean;
  /** null if there is no branch. */
  defaultBranch: string | null;
};

/** @param maxBytes null: no limit @throws ImportFailure */
const limitBytes = async function* limitBytes(
  source: AsyncIterable<Buffer>,
  maxBytes: number | null,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (maxBytes !== null && size > maxBytes)
      throw new ImportFailure(`The repository is larger than ${formatBytes(maxBytes)}.`);
    yield chunk;
  }
};

/** Describes why git refused the objects, by its names for what is wrong. */
const describeRefusal = ({ message }: GitFailure): string => {
  const [, id, problem] = /object ([0-9a-f]{40}): (\w+)/.exec(message) ?? [];
  return id === undefined
    ? 'git refuses the objects that the server sent.'
    : `git refuses the object ${id} of the repository (${problem}).`;
};

type ReceiveOptions = RemoteAccess & {
  /** Bytes of the pack; null: no limit. */
  maxBytes: number | null;
  /** Limit of the time in which git stores the pack. */
  seconds: number;
  /** Called before the branches and tags are replaced. Throws if that must not happen. */
  confirm: () => Promise<void>;
};

const storePack = async (
  repository: Repository,
  remote: RemoteRepository,
  { maxBytes, seconds, signal }: Pick<ReceiveOptions, 'maxBytes' | 'seconds' | 'signal'>,
): Promise<void> => {
  const put = await repository.stream('pack.write', { seconds }, { signal });
  put.readable.resume();
  let problem: { error: unknown } | null = null;
  const bytes = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* limitBytes(remote.readPack(), maxBytes);
    } catch (error) {
      problem = { error };
      throw error;
    }
  };
  try {
    // If git stops reading, its result says why.
    const sent = pipeline(bytes, put.writable, { signal }).catch(() => undefined);
    await Promise.all([sent, put.result]);
  } catch (error) {
    const cause = (problem as { error: unknown } | null)?.error ?? error;
    throw isGitFailure(cause, 'invalid') ? new ImportFailure(describeRefusal(cause)) : cause;
  } finally {
    put.destroy();
  }
};

const setRefs = async (repository: Repository, { refs }: RemoteRepository): Promise<void> => {
  const lines = [...refs].map(([name, id]) => `${id} ${name}\n`);
  try {
    await repository.ask('refs.restore', {}, Buffer.from(lines.join('')), { seconds: refsTimeout });
  } catch (error) {
    if (!isGitFailure(error, 'internal') && !isGitFailure(error, 'invalid')) throw error;
    throw new ImportFailure('git refuses the branches or tags of the repository.');
  }
};

/**
 * Copies all branches and tags. May be repeated: what an earlier attempt left does no harm.
 * @throws ImportFailure; GitFailure; the reason of the signal; what `confirm` throws
 */
export const receiveRepository = async (
  repository: Repository,
  source: ImportSource,
  { maxBytes, seconds, confirm, ...access }: ReceiveOptions,
): Promise<Received> => {
  const remote = await openRemote(source, access);
  if (remote.refs.size === 0) return { hasRefs: false, defaultBranch: null };
  publishReached('import.listed');
  await storePack(repository, remote, { maxBytes, seconds, signal: access.signal });
  publishReached('import.received');
  await confirm();
  await setRefs(repository, remote);
  publishReached('import.refs_set');
  return { hasRefs: true, defaultBranch: remote.head?.slice(branchPrefix.length) ?? null };
};
