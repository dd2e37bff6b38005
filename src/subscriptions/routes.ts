/** Subscribe and unsubscribe, for any noun: each answers the noun's own record. */
import type { TSchema } from 'typebox';
import { type Call, actorOf, endpoint } from '../access/call.ts';
import { notModified } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { idOrPath, object } from '../http/schema.ts';
import { type Found, type Noun, eventKind } from '../issuables/target.ts';
import { isSubscribed, setSubscribed } from './subscribed.ts';

export type Rendering = {
  shape: TSchema;
  render: (call: Call, found: Found) => Promise<unknown>;
};

const change = async (noun: Noun, call: Call, { target }: Found, wanted: boolean): Promise<void> => {
  const actor = actorOf(call);
  await call.write(async (tx) => {
    const isAlready = (await isSubscribed(tx.db, actor.user.id, target)) === wanted;
    if (isAlready || !(await setSubscribed(tx, actor.user.id, target, wanted))) throw notModified();
    await recordEvent(tx, actor, {
      kind: eventKind(noun, wanted ? 'subscribed' : 'unsubscribed'),
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
      summary: `${name === 'subscribe' ? 'Subscribe to' : 'Unsubscribe from'} a ${noun.word}`,
      area: noun.segment,
      audience: 'user',
      // As text: what is no number names nothing, and that is "not found" here.
      params: object({ id: idOrPath('project'), [noun.param]: idOrPath(`iid of the ${noun.word}`) }),
      reply: shape,
      handle: async (call, params) => {
        const iid = params[noun.param] ?? '';
        const found = await noun.find(call, params['id'] ?? '', typeof iid === 'number' ? iid : 0);
        await change(noun, call, found, name === 'subscribe');
        return await render(call, found);
      },
    });
  return [route('subscribe'), route('unsubscribe')];
};
