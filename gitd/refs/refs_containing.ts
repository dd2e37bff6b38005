import type { MethodHandler } from '../handler_types.ts';
import { flag, oid, type Argument } from '../exec/arguments.ts';
import { requireCommit } from '../pool/read_object.ts';

const prefixes = {
  branch: [flag('refs/heads')],
  tag: [flag('refs/tags')],
  all: [flag('refs/heads'), flag('refs/tags')],
};

const pattern = /^refs\/(heads|tags)\/(.+)$/su;

const holding = (id: string): Argument[] => [flag('--contains'), oid(id)];

/** Lists the branches, then the tags, that contain a commit; each by name. */
export const refsContaining: MethodHandler<'commits.refs'> = async ({ id, type }, context) => {
  await requireCommit(context, id);
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    args: [flag('--format=%(refname)'), ...holding(id), ...prefixes[type]],
    dir: context.dir,
    slot: 'interactive',
    seconds: 30,
    signal: context.signal,
  });
  const refs = stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [, kind, name] = pattern.exec(line) ?? [];
      return name === undefined
        ? []
        : [{ type: kind === 'tags' ? ('tag' as const) : ('branch' as const), name }];
    });
  return { result: { refs } };
};
