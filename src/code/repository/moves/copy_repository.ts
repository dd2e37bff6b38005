/** Copies a repository to another storage through this process: storages have no connection to each other. */
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { keepAroundPrefix } from '../refs/import_commits.ts';
import { pipePack } from '../refs/pipe_pack.ts';

/** Seconds to list or to set all refs, and to check all objects. */
const refsTimeout = 3_600;
const checkTimeout = 3_600;

/** Reads all refs, including internal refs: lines `<oid> <name>`. */
const dumpRefs = async (repository: Repository): Promise<string[]> => {
  const { body } = await repository.read('refs.dump', {}, { seconds: refsTimeout });
  return body.toString().split('\n').filter(Boolean).toSorted();
};

const listIds = (lines: readonly string[]): string[] => [...new Set(lines.map((line) => line.slice(0, 40)))];

const copyObjects = async (
  from: Repository,
  into: Repository,
  objects: { tips: string[]; not: string[] },
): Promise<void> => {
  const [source, target] = await Promise.all([
    from.stream('pack.dump', objects),
    into.stream('pack.write', {}),
  ]);
  await pipePack(source, target, async () => {
    const { missing } = await source.result;
    if (missing.length > 0) throw new Error(`the repository lacks ${missing.length} objects that refs name`);
  });
};

/**
 * Makes the copy have all objects and refs of the source as they are now. Objects that it already has are not sent
 * again.
 */
export const copyRepository = async (from: Repository, into: Repository): Promise<void> => {
  const expected = await dumpRefs(from);
  const present = await dumpRefs(into);
  if (expected.length === 0 && present.length === 0) return;
  const existing = new Set(listIds(present));
  const tips = listIds(expected).filter((id) => !existing.has(id));
  if (tips.length > 0) await copyObjects(from, into, { tips, not: [...existing] });
  const refs = Buffer.from(expected.map((line) => `${line}\n`).join(''));
  await into.ask('refs.restore', {}, refs, { seconds: refsTimeout });
};

/** Has git check every object of the copy. @throws Error that says what is wrong */
export const checkObjects = async (copy: Repository): Promise<void> => {
  const { problems } = await copy.ask('repository.check', {}, undefined, { seconds: checkTimeout });
  if (problems.length > 0) throw new Error(`git fsck of the copy: ${problems.slice(0, 3).join('; ')}`);
};

/** Branches and tags move by recorded operations, which a move waits for; the service writes other refs at any time. */
const isRecorded = (line: string): boolean => /^refs\/(?:heads|tags)\//.test(line.slice(41));

/** Compares branches and tags. @throws Error if they differ */
export const compareRefs = async (from: Repository, into: Repository): Promise<void> => {
  const [expected, copied] = [await dumpRefs(from), await dumpRefs(into)];
  if (expected.filter(isRecorded).join('\n') !== copied.filter(isRecorded).join('\n'))
    throw new Error('the branches or tags of the copy differ');
};

/**
 * Copies refs that keep commits and were written to the source after it was copied. They are never removed, unlike
 * other internal refs: such a ref that only the source has was removed since.
 */
export const copyLateRefs = async (from: Repository, into: Repository): Promise<void> => {
  const present = new Set((await dumpRefs(into)).map((line) => line.slice(41)));
  const late = (await dumpRefs(from)).filter((line) => {
    const name = line.slice(41);
    return name.startsWith(keepAroundPrefix) && !present.has(name);
  });
  if (late.length === 0) return;
  await copyObjects(from, into, { tips: listIds(late), not: [] });
  const updates = late.map((line) => ({ ref: line.slice(41), old: zeroOid, new: line.slice(0, 40) }));
  await into.ask('refs.update', { updates });
};
