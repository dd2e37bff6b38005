import type { Context, MethodHandler } from '../handler_types.ts';
import { flag, ref as refArgument } from '../exec/arguments.ts';
import { isQueryable } from '../pool/cat_file.ts';
import type { Oid, Ref } from '../protocol_records.ts';
import { checkIdCount } from '../commits/read_commits.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { parseTag } from '../commits/parse_commit.ts';
import type { ListedRef } from './listed_ref.ts';
import { isFullRef } from '../ref_names.ts';

const maxTagBytes = 4 * 2 ** 20;

type Target = { id: Oid; type: string };

/** Reads a ref by `for-each-ref`: cat-file would take the name for output of `git describe`. */
const readOddRef = async (context: Context, name: string): Promise<Target | null> => {
  await requireRepository(context);
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    args: [flag('--format=%(refname) %(objectname) %(objecttype)'), refArgument(name)],
    dir: context.dir,
    slot: 'interactive',
    seconds: 10,
    signal: context.signal,
  });
  const lines = stdout.toString('utf8').split('\n');
  const [, id, type] = lines.find((line) => line.startsWith(`${name} `))?.split(' ') ?? [];
  return id === undefined || type === undefined ? null : { id, type };
};

/** Reads the target of a full ref; null if the ref does not exist. */
export const readTarget = async (context: Context, name: string): Promise<Target | null> => {
  if (!isFullRef(name)) return null;
  if (isQueryable(name)) return await context.pools.catFile.info(context.dir, name);
  return await readOddRef(context, name);
};

/** Peels an object to a commit; null if it points to no commit. */
export const peel = async ({ pools, dir }: Context, { id, type }: Target): Promise<Oid | null> => {
  if (type === 'commit') return id;
  if (type !== 'tag') return null;
  return (await pools.catFile.info(dir, `${id}^{commit}`))?.id ?? null;
};

/** Describes a ref, with message and tagger of an annotated tag. */
export const describeRef = async (
  context: Context,
  ref: Pick<ListedRef, 'name' | 'target' | 'commit' | 'isTag'>,
): Promise<Ref> => {
  const { name, target } = ref;
  if (!ref.isTag) return { name, target, commit: ref.commit, message: null, tagger: null };
  const [object, commit] = await Promise.all([
    context.pools.catFile.contents(context.dir, target, maxTagBytes),
    ref.commit ?? peel(context, { id: target, type: 'tag' }),
  ]);
  if (object?.type !== 'tag') return { name, target, commit, message: null, tagger: null };
  const { message, tagger } = parseTag(object.data);
  return { name, target, commit, message, tagger };
};

/** Reads one ref; null if it does not exist. */
const readRef = async (context: Context, name: string): Promise<Ref | null> => {
  const target = await readTarget(context, name);
  if (target === null) return null;
  const isTag = target.type === 'tag';
  const commit = target.type === 'commit' ? target.id : null;
  return await describeRef(context, { name, target: target.id, commit, isTag });
};

export const getRefs: MethodHandler<'refs.get'> = async ({ names }, context) => {
  checkIdCount(names);
  return { result: { refs: await Promise.all(names.map(async (name) => await readRef(context, name))) } };
};
