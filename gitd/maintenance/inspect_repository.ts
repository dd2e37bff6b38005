/** Reports size, existence and integrity of a repository. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { flag } from '../exec/arguments.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { readAllRefs } from '../refs/list_refs.ts';
import { repositoryExists } from '../disk/storage_paths.ts';

export const checkExistence: MethodHandler<'repository.exists'> = async (_params, { dir }) => ({
  result: { exists: await repositoryExists(dir) },
});

/** Measures the bytes of all objects on disk. */
export const measureRepository = async ({ exec, dir, signal }: Context): Promise<number> => {
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
    requireRepository(context).then(async () => await measureRepository(context)),
    readAllRefs(context, 'refs/heads/'),
  ]);
  return { result: { size, empty: branches.length === 0 } };
};

/** Notes of fsck about unreachable objects; not problems. */
const isComplaint = (line: string): boolean =>
  line !== '' && !/^(?:notice|dangling|unreachable|Checking|warning in)\b/.test(line);

export const checkRepository: MethodHandler<'repository.check'> = async (_params, context) => {
  const { exec, dir, signal } = context;
  await requireRepository(context);
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
