import type { Context, MethodHandler } from '../context.ts';
import { flag, ref as refArgument } from '../exec/arguments.ts';
import { isAskable } from '../pool/catfile.ts';
import type { Oid, Ref } from '../protocol.ts';
import { requireFew } from '../read/commits.ts';
import { requireThere } from '../read/missing.ts';
import { parseTag } from '../read/parse.ts';
import type { ListedRef } from './list.ts';
import { isFullRef } from './names.ts';

const largestTag = 4 * 2 ** 20;

type Target = { id: Oid; type: string };

/** A name that cat-file would read as what `git describe` writes: asked of the refs alone. */
const readOddRef = async (context: Context, name: string): Promise<Target | null> => {
  await requireThere(context);
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

/** What a full ref points at; null: there is none. */
export const targetOf = async (context: Context, name: string): Promise<Target | null> => {
  if (!isFullRef(name)) return null;
  if (isAskable(name)) return await context.pools.catFile.info(context.dir, name);
  return await readOddRef(context, name);
};

/** The commit behind an object; null: it leads to none. */
export const peel = async ({ pools, dir }: Context, { id, type }: Target): Promise<Oid | null> => {
  if (type === 'commit') return id;
  if (type !== 'tag') return null;
  return (await pools.catFile.info(dir, `${id}^{commit}`))?.id ?? null;
};

/** With the message and the tagger, where it is an annotated tag. */
export const describeRef = async (
  context: Context,
  ref: Pick<ListedRef, 'name' | 'target' | 'commit' | 'isTag'>,
): Promise<Ref> => {
  const { name, target } = ref;
  if (!ref.isTag) return { name, target, commit: ref.commit, message: null, tagger: null };
  const [found, commit] = await Promise.all([
    context.pools.catFile.contents(context.dir, target, largestTag),
    ref.commit ?? peel(context, { id: target, type: 'tag' }),
  ]);
  if (found?.type !== 'tag') return { name, target, commit, message: null, tagger: null };
  const { message, tagger } = parseTag(found.data);
  return { name, target, commit, message, tagger };
};

/** null: there is no such ref. */
const readRef = async (context: Context, name: string): Promise<Ref | null> => {
  const target = await targetOf(context, name);
  if (target === null) return null;
  const isTag = target.type === 'tag';
  const commit = target.type === 'commit' ? target.id : null;
  return await describeRef(context, { name, target: target.id, commit, isTag });
};

export const getRefs: MethodHandler<'refs.get'> = async ({ names }, context) => {
  requireFew(names);
  return { result: { refs: await Promise.all(names.map(async (name) => await readRef(context, name))) } };
};
