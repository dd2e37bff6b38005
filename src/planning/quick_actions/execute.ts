/** Executes the quick actions of a comment, for any noun. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { Failure } from '../../platform/errors.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import { type Acted, applyActions, maxActions } from '../issuables/apply_quick_actions.ts';
import { type OperationName, isOperation } from '../issuables/text/quick_action_words.ts';
import type { QuickAction } from '../issuables/text/quick_actions.ts';
import { type Acts, type LoadedTarget, type Noun, eventKind } from '../issuables/target.ts';
import { setSubscribed } from '../subscriptions/subscriptions.ts';
import { changeTimes, estimateTo, resetSpentStep, spend } from '../time_tracking/change_times.ts';
import { addTodos, finishTodos } from '../todos/add_todos.ts';
import { type Current, type RequestedEdit, buildEdit } from './build_edit.ts';

type Acting = { noun: Noun; call: Call; loaded: LoadedTarget };

const changeTime = async ({ noun, call, loaded }: Acting, before: Current, after: Acted): Promise<Acts> => {
  const done: Acts = {};
  const { time_estimate = 0, time_spent = 0 } = after;
  if (time_estimate !== before.time_estimate) {
    await changeTimes(noun, call, loaded, estimateTo(time_estimate));
    done['time_estimate'] = time_estimate;
  }
  const spent = time_spent - (before.time_spent ?? 0);
  if (spent !== 0) {
    await changeTimes(noun, call, loaded, time_spent === 0 ? resetSpentStep : spend(spent));
    done['spend_time'] = { duration: spent };
  }
  return done;
};

const follow = async ({ noun, call, loaded: { target } }: Acting, { subscribed }: Acted): Promise<Acts> => {
  if (subscribed === undefined) return {};
  const actor = requireActor(call);
  const isNew = await call.write(async (tx) => {
    if (!(await setSubscribed(tx, actor.user.id, target, subscribed))) return false;
    await recordEvent(tx, actor, {
      kind: eventKind(noun, subscribed ? 'subscribed' : 'unsubscribed'),
      project_id: target.project_id,
      target_type: target.type,
      target_id: target.id,
    });
    return true;
  });
  return isNew ? { subscription_event: subscribed ? 'subscribe' : 'unsubscribe' } : {};
};

const mark = async ({ call, loaded: { target } }: Acting, { todo }: Acted): Promise<Acts> => {
  if (todo === undefined) return {};
  const actor = requireActor(call);
  await call.write(async (tx) => {
    if (!todo) return await finishTodos(tx, actor.user.id, target);
    const marked = { user_id: actor.user.id, action: 'marked' as const, body: target.title };
    await addTodos(tx, actor.user.id, target, [marked]);
  });
  return { todo_event: todo ? 'add' : 'done' };
};

/** Editing operations that quick actions use on a noun's record. */
export type Editing = {
  current: Current;
  /** True if the caller may set fields that need the permission to administer the kind. */
  mayAdmin: boolean;
  edit: (requested: RequestedEdit) => Promise<unknown>;
  /** Operations of the kind of record. They check the rights of the caller, and return what they changed. */
  operations: { [N in OperationName]?: (argument: string) => Promise<Acts> };
};

/**
 * Returns why a failure skips an operation; null for refusals that are not reported, such as a missing permission.
 * @param hasChanged the comment has changed something, so it must not fail: sent again, it would repeat the change
 * @throws the failure if it may pass and nothing was changed, so that the comment can be sent again
 */
const findReason = (error: unknown, hasChanged: boolean): string | null => {
  const isRefusal = error instanceof Failure && error.kind !== 'unavailable';
  if (!isRefusal) {
    const mayPass = error instanceof Failure || isGitFailure(error);
    if (!hasChanged || !mayPass) throw error;
    return 'The service cannot do this at the moment. Try again later.';
  }
  const { message } = (error.body ?? {}) as { message?: unknown };
  return error.kind === 'conflict' && typeof message === 'string' ? message : null;
};

/** Operations that one comment runs once, as each of them may copy or rewrite much. */
const singleOperations: ReadonlySet<OperationName> = new Set(['move', 'clone', 'merge', 'rebase']);

/** Returns the operations in order. @returns `repeated`: those that one comment runs once, and that it repeats */
const listOperations = (actions: QuickAction[]) => {
  const listed: { name: OperationName; argument: string }[] = [];
  const repeated = new Set<OperationName>();
  for (const { name, argument } of actions.slice(0, maxActions)) {
    if (!isOperation(name)) continue;
    const isRepeated = singleOperations.has(name) && listed.some((one) => one.name === name);
    if (isRepeated) repeated.add(name);
    else listed.push({ name, argument });
  }
  return { listed, repeated };
};

/** Runs the operations among the actions, in order and after the edit. @param before changes that were made */
const runOperations = async (
  operations: Editing['operations'],
  actions: QuickAction[],
  before: Acts,
): Promise<Acts> => {
  const done = { ...before };
  const { listed, repeated } = listOperations(actions);
  const skipped = Object.fromEntries([...repeated].map((name) => [name, 'One comment can do this once.']));
  for (const { name, argument } of listed) {
    try {
      const { skipped: parts, ...changed } = (await operations[name]?.(argument)) ?? {};
      Object.assign(done, changed);
      Object.assign(skipped, parts);
    } catch (error) {
      const reason = findReason(error, Object.keys(done).length > 0);
      if (reason !== null) skipped[name] = reason;
    }
  }
  return Object.keys(skipped).length === 0 ? done : { ...done, skipped };
};

/** Executes quick actions. @returns the changes made; actions without permission or effect are skipped */
export const executeQuickActions = async (
  acting: Acting,
  actions: QuickAction[],
  { current, mayAdmin, edit, operations }: Editing,
): Promise<Acts> => {
  const { noun, call, loaded } = acting;
  const after = await applyActions(
    { call, project: loaded.project, type: loaded.target.type },
    current,
    actions,
  );
  const mayUpdate = noun.mayUpdate(call, loaded);
  const requested = buildEdit(current, after, actions, { update: mayUpdate, admin: mayAdmin });
  if (Object.keys(requested).length > 0) await edit(requested);
  const timed = mayUpdate ? await changeTime(acting, current, after) : {};
  const followed = { ...(await follow(acting, after)), ...(await mark(acting, after)) };
  return await runOperations(operations, actions, { ...requested, ...timed, ...followed });
};
