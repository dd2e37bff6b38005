/** Checks which refs a push may change, for every user: other names would confuse git or its users. */
import { zeroOid } from '../protocol_records.ts';
import { isNewRef } from '../ref_names.ts';
import type { HookUpdate } from './hook_channel.ts';
import { foldRef } from '../refs/visible_tips.ts';

const maxUpdates = 10_000;

const pushable = ['refs/heads/', 'refs/tags/', 'refs/notes/'];

const shown = (ref: string): string => JSON.stringify(ref).slice(1, -1);

/**
 * Maximum bytes of a name, and of all names of a push. Each folder of each ref is synced, even for the deletion of a
 * ref that does not exist. Allowed names of new refs are shorter.
 */
const maxName = { bytes: 1_024, parts: 150 };
const maxNames = 2 * 2 ** 20;

const isTooLong = (ref: string): boolean =>
  ref.length > maxName.bytes || ref.split('/').length > maxName.parts;

const nameProblem = ({ ref, old }: HookUpdate): string | null => {
  if (isTooLong(ref)) return `${shown(ref.slice(0, 100))}…: this name is too long.`;
  if (!pushable.some((prefix) => ref.startsWith(prefix)))
    return `${shown(ref)}: only branches (refs/heads/), tags (refs/tags/) and notes (refs/notes/) can be pushed.`;
  if (old !== zeroOid || isNewRef(ref)) return null;
  return `${shown(ref)}: this name is not allowed.`;
};

/** Two names that differ in case only are the same file on many machines. */
const caseProblem = (updates: readonly HookUpdate[], folded: ReadonlyMap<string, string>): string | null => {
  const gone = new Set(updates.filter((one) => one.new === zeroOid).map(({ ref }) => ref));
  const made = new Map<string, string>();
  for (const { ref, old, new: next } of updates) {
    if (old !== zeroOid || next === zeroOid) continue;
    const fold = foldRef(ref);
    const there = folded.get(fold);
    const conflicting = there !== undefined && !gone.has(there) ? there : made.get(fold);
    if (conflicting !== undefined && conflicting !== ref)
      return `${shown(ref)}: ${shown(conflicting)} differs only in case.`;
    made.set(fold, ref);
  }
  return null;
};

/** Returns lines for the pusher; null if the push is allowed. */
export const refProblems = (
  updates: readonly HookUpdate[],
  folded: ReadonlyMap<string, string>,
): string[] | null => {
  if (updates.length > maxUpdates) return [`A push may change at most ${maxUpdates} refs.`];
  if (updates.reduce((sum, { ref }) => sum + ref.length, 0) > maxNames)
    return ['The names of the refs of a push may have at most 2 MB together.'];
  const names = updates.map(nameProblem).filter((problem) => problem !== null);
  if (names.length > 0) return names.slice(0, 20);
  const problem = caseProblem(updates, folded);
  return problem === null ? null : [problem];
};
