/** Forms of the user's own relation to an issue: subscription and to-do item. */
import { type LoadedIssue, findIssue } from '../../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../../planning/issues/noun.ts';
import { changeSubscription } from '../../../../../planning/subscriptions/routes.ts';
import { finishTodo } from '../../../../../planning/todos/done.ts';
import { markTodo } from '../../../../../planning/todos/mark.ts';
import { findPendingTodo } from '../../../../../planning/todos/queries.ts';
import { Failure } from '../../../../../platform/errors.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { issuePath, oneIssue, servedIssues } from '../find.ts';

/** Runs an operation that fails with 304 where there is nothing to change, as after a second click. */
const unlessDone = async (operation: () => Promise<unknown>): Promise<void> => {
  try {
    await operation();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_modified') throw error;
  }
};

const act = (path: string, operation: (visit: Visit, loaded: LoadedIssue) => Promise<unknown>) =>
  page({
    method: 'POST',
    path: `${servedIssues}/:iid/${path}`,
    audience: 'user',
    params: object(oneIssue),
    handle: async (visit, { project, iid }) => {
      const loaded = await findIssue(visit.call, project, iid);
      await unlessDone(async () => await operation(visit, loaded));
      return redirect(issuePath(loaded));
    },
  });

const finishOwnTodo = async ({ call }: Visit, { target }: LoadedIssue): Promise<void> => {
  const todo = await findPendingTodo(call, target);
  if (todo !== undefined) await finishTodo(call, todo);
};

export const followPages = [
  act('subscribe', async ({ call }, loaded) => await changeSubscription(issueNoun, call, loaded, true)),
  act('unsubscribe', async ({ call }, loaded) => await changeSubscription(issueNoun, call, loaded, false)),
  act('todo', async ({ call }, loaded) => await markTodo(call, loaded)),
  act('todo/done', finishOwnTodo),
];
