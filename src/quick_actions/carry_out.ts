/** Carries out what quick actions in a comment ask for, for any noun. */
import { type Call, actorOf } from '../access/call.ts';
import { recordEvent } from '../events/record.ts';
import { type Acted, applyActions } from '../issuables/actions.ts';
import type { QuickAction } from '../issuables/quick_actions.ts';
import { type Acts, type Found, type Noun, eventKind } from '../issuables/target.ts';
import { setSubscribed } from '../subscriptions/subscribed.ts';
import { changeTimes, estimateTo, resetSpentStep, spend } from '../time_tracking/change.ts';
import { addTodos, finishTodos } from '../todos/add.ts';
import { type Current, type WantedEdit, wantedEdit } from './wanted.ts';

type Acting = { noun: Noun; call: Call; found: Found };

const changeTime = async ({ noun, call, found }: Acting, before: Current, after: Acted): Promise<Acts> => {
  const done: Acts = {};
  const { time_estimate = 0, time_spent = 0 } = after;
  if (time_estimate !== before.time_estimate) {
    await changeTimes(noun, call, found, estimateTo(time_estimate));
    done['time_estimate'] = time_estimate;
  }
  const spent = time_spent - (before.time_spent ?? 0);
  if (spent !== 0) {
    await changeTimes(noun, call, found, time_spent === 0 ? resetSpentStep : spend(spent));
    done['spend_time'] = { duration: spent };
  }
  return done;
};

const follow = async ({ noun, call, found: { target } }: Acting, { subscribed }: Acted): Promise<Acts> => {
  if (subscribed === undefined) return {};
  const actor = actorOf(call);
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

const mark = async ({ call, found: { target } }: Acting, { todo }: Acted): Promise<Acts> => {
  if (todo === undefined) return {};
  const actor = actorOf(call);
  await call.write(async (tx) => {
    if (!todo) return await finishTodos(tx, actor.user.id, target);
    const marked = { user_id: actor.user.id, action: 'marked' as const, body: target.title };
    await addTodos(tx, actor.user.id, target, [marked]);
  });
  return { todo_event: todo ? 'add' : 'done' };
};

/** How a noun is edited by quick actions. */
export type Editing = {
  current: Current;
  /** Whether the caller may set what is for those who administer the kind. */
  mayAdmin: boolean;
  edit: (wanted: WantedEdit) => Promise<unknown>;
};

/** @returns what was done: what the caller may not, or what is so already, is passed over */
export const carryOut = async (
  acting: Acting,
  actions: QuickAction[],
  { current, mayAdmin, edit }: Editing,
): Promise<Acts> => {
  const { noun, call, found } = acting;
  const after = await applyActions(
    { call, project: found.project, type: found.target.type },
    current,
    actions,
  );
  const mayUpdate = noun.mayUpdate(call, found);
  const wanted = wantedEdit(current, after, actions, { update: mayUpdate, admin: mayAdmin });
  if (Object.keys(wanted).length > 0) await edit(wanted);
  const timed = mayUpdate ? await changeTime(acting, current, after) : {};
  return { ...wanted, ...timed, ...(await follow(acting, after)), ...(await mark(acting, after)) };
};
