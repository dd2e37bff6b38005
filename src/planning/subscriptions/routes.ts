/** Endpoints to subscribe and unsubscribe, for any noun. Each returns the noun's record. */
import type { TSchema } from 'typebox';
import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notModified } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { idOrPath, object } from '../../platform/http/schema.ts';
import { type LoadedTarget, type Noun, eventKind, withArticle } from '../issuables/target.ts';
import { isSubscribed, setSubscribed } from './subscriptions.ts';

export type Rendering = {
  shape: TSchema;
  render: (call: Call, loaded: LoadedTarget) => Promise<unknown>;
};

/** Subscribes or unsubscribes the caller. @throws Failure 304 if nothing changes */
export const changeSubscription = async (
  noun: Noun,
  call: Call,
  { target }: LoadedTarget,
  isSubscribing: boolean,
): Promise<void> => {
  const actor = requireActor(call);
  await call.write(async (tx) => {
    const isAlready = (await isSubscribed(tx.db, actor.user.id, target)) === isSubscribing;
    if (isAlready || !(await setSubscribed(tx, actor.user.id, target, isSubscribing))) throw notModified();
    await recordEvent(tx, actor, {
      kind: eventKind(noun, isSubscribing ? 'subscribed' : 'unsubscribed'),
      project_id: target.project_id,
      target_type: target.type,
      target_id: target.id,
    });
  });
};

export const subscriptionRoutes = (noun: Noun, { shape, render }: Rendering) => {
  const route = (name: 'subscribe' | 'unsubscribe') =>
    endpoint({
      method: 'POST',
      path: `/projects/:id/${noun.segment}/:${noun.param}/${name}`,
      summary: `${name === 'subscribe' ? 'Subscribe to' : 'Unsubscribe from'} ${withArticle(noun.word)}`,
      area: noun.segment,
      audience: 'user',
      // Declared as text: an iid that is not a number is "not found" here.
      params: object({ id: idOrPath('project'), [noun.param]: idOrPath(`iid of the ${noun.word}`) }),
      reply: shape,
      handle: async (call, params) => {
        const iid = params[noun.param] ?? '';
        const loaded = await noun.find(call, params['id'] ?? '', typeof iid === 'number' ? iid : 0);
        await changeSubscription(noun, call, loaded, name === 'subscribe');
        return await render(call, loaded);
      },
    });
  return [route('subscribe'), route('unsubscribe')];
};
