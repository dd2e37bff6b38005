/** Forms of the user's own relation to a record: subscription and to-do item. */
import type { Call } from '../../../../core/access/call.ts';
import type { LoadedTarget, Target } from '../../../../planning/issuables/target.ts';
import { changeSubscription } from '../../../../planning/subscriptions/routes.ts';
import { finishTodo } from '../../../../planning/todos/finish_todos.ts';
import { markTodo } from '../../../../planning/todos/add_own_todo.ts';
import { findPendingTodo } from '../../../../planning/todos/queries.ts';
import { Failure } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { type IssuableKind, recordParams } from './issuable_kind.ts';

/** Runs an operation that fails with 304 where there is nothing to change, as after a second click. */
const unlessDone = async (operation: () => Promise<unknown>): Promise<void> => {
  try {
    await operation();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_modified') throw error;
  }
};

const finishOwnTodo = async (call: Call, target: Target): Promise<void> => {
  const todo = await findPendingTodo(call, target);
  if (todo !== undefined) await finishTodo(call, todo);
};

export const followPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => {
  const act = (path: string, operation: (call: Call, loaded: L) => Promise<unknown>) =>
    page({
      method: 'POST',
      path: `${kind.routePath}/:iid/${path}`,
      audience: 'user',
      params: object(recordParams),
      handle: async ({ call }, { project, iid }) => {
        const loaded = await kind.find(call, project, iid);
        await unlessDone(async () => await operation(call, loaded));
        return redirect(kind.path(loaded));
      },
    });
  const { noun } = kind;
  return [
    act('subscribe', async (call, loaded) => await changeSubscription(noun, call, loaded, true)),
    act('unsubscribe', async (call, loaded) => await changeSubscription(noun, call, loaded, false)),
    act('todo', async (call, loaded) => await markTodo(call, loaded)),
    act('todo/done', async (call, { target }) => await finishOwnTodo(call, target)),
  ];
};
