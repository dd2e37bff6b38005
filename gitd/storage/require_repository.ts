import type { Answer, Context, MethodHandler } from '../handler_types.ts';
import { isGitError, noRepository } from '../git_error.ts';
import type { Method, Methods } from '../protocol.ts';
import { requireMarker } from './claim_storage.ts';
import { repositoryExists } from '../disk/storage_paths.ts';

/**
 * Checks that the repository exists, before git is started. Pools check it themselves.
 * @throws GitError `no_repository`
 */
export const requireRepository = async ({ dir }: Pick<Context, 'dir'>): Promise<void> => {
  if (!(await repositoryExists(dir))) throw noRepository();
};

/** Wraps a handler: answers as for an empty repository if it does not exist and was never written to. */
export const answerWhenEmpty =
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
