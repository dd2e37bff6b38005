import type { Answer, Context, MethodHandler } from '../context.ts';
import { isGitError, noRepository } from '../failure.ts';
import type { Method, Methods } from '../protocol.ts';
import { requireMarker } from '../storage/claim.ts';
import { isThere } from '../storage/layout.ts';

/** For what starts a git of its own: pools look themselves. @throws GitError `no_repository` */
export const requireThere = async ({ dir }: Pick<Context, 'dir'>): Promise<void> => {
  if (!(await isThere(dir))) throw noRepository();
};

/** Answers for an empty repository where none is there and none was ever written. */
export const reading =
  <M extends Method>(
    handler: MethodHandler<M>,
    empty: (params: Methods[M]['params']) => Methods[M]['result'],
  ): MethodHandler<M> =>
  async (params, context, body): Promise<Answer<M>> => {
    try {
      return await handler(params, context, body);
    } catch (error) {
      if (!isGitError(error, 'no_repository') || context.written) throw error;
      await requireMarker(context.root);
      return { result: empty(params) };
    }
  };
