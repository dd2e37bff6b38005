/** What a repository is like, as a whole. */
import type { Context, MethodHandler } from '../context.ts';
import { flag } from '../exec/arguments.ts';
import { requireThere } from '../read/missing.ts';
import { allRefs } from '../refs/list.ts';
import { isThere } from './layout.ts';

export const repositoryExists: MethodHandler<'repository.exists'> = async (_params, { dir }) => ({
  result: { exists: await isThere(dir) },
});

/** Bytes of all its objects on disk. */
export const sizeOf = async ({ exec, dir, signal }: Context): Promise<number> => {
  const args = [flag('-v')];
  const run = { command: 'count-objects', args, dir, slot: 'interactive', seconds: 30, signal } as const;
  const { stdout } = await exec.run(run);
  const text = stdout.toString();
  const kibibytes = ['size', 'size-pack', 'size-garbage'].map((name) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0),
  );
  return kibibytes.reduce((sum, one) => sum + one * 1024, 0);
};

export const repositoryStatistics: MethodHandler<'repository.statistics'> = async (_params, context) => {
  const [size, branches] = await Promise.all([
    requireThere(context).then(async () => await sizeOf(context)),
    allRefs(context, 'refs/heads/'),
  ]);
  return { result: { size, empty: branches.length === 0 } };
};

/** What it says of objects that nothing refers to is no complaint. */
const isComplaint = (line: string): boolean =>
  line !== '' && !/^(?:notice|dangling|unreachable|Checking|warning in)\b/.test(line);

export const checkRepository: MethodHandler<'repository.check'> = async (_params, context) => {
  const { exec, dir, signal } = context;
  await requireThere(context);
  const { stdout, stderr } = await exec.run({
    command: 'fsck',
    args: [flag('--full'), flag('--no-dangling'), flag('--no-progress')],
    dir,
    slot: 'maintenance',
    seconds: 3600,
    signal,
    codes: [0, 1, 2, 3, 4, 5, 6, 7, 128],
  });
  return { result: { problems: `${stdout.toString()}\n${stderr}`.split('\n').filter(isComplaint) } };
};
