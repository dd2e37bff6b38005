/** Counts the git processes of a call for its client. */
import { interactiveShares, withInteractiveShares } from '../exec/interactive_shares.ts';
import type { Exec } from '../exec/spawn.ts';
import type { Method, Stream } from '../protocol.ts';
import type { Client } from '../protocol_records.ts';

/** Calls that change a repository or make objects. All others are reads, which leave a part of the slots to these. */
const changes: ReadonlySet<unknown> = new Set<Method | Stream>([
  'repository.create',
  'repository.remove',
  'repository.maintain',
  'repository.fork',
  'repository.fetch_commit',
  'refs.restore',
  'refs.update',
  'merge.commit',
  'merge.resolve',
  'merge.squash',
  'merge.rebase',
  'commit.cherry_pick',
  'commit.revert',
  'commit.actions',
  'tag.create',
  'transport.receive_pack',
  'pack.write',
]);

const isClient = (value: unknown): value is Client => {
  const { name, address } = (value ?? {}) as { name?: unknown; address?: unknown };
  return typeof name === 'string' && typeof address === 'string';
};

/**
 * Returns an `Exec` for a call, whose interactive slots count for its client. Work of the service itself has no limit
 * but theirs.
 */
export const shareSlots = (exec: Exec, call: unknown, params: unknown): Exec => {
  const { client } = (params ?? {}) as { client?: unknown };
  if (!isClient(client)) return exec;
  return withInteractiveShares(exec, interactiveShares(changes.has(call) ? 'change' : 'read', client));
};
