/** Subscribe and unsubscribe, for any noun: each answers the noun's own record. */
import type { TSchema } from 'typebox';
import { type Call, endpoint, userOf } from '../access/call.ts';
import { notModified } from '../errors.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { isSubscribed, setSubscribed } from './subscribed.ts';

export type Rendering = {
  shape: TSchema;
  render: (call: Call, found: Found) => Promise<unknown>;
};

const change = async (call: Call, found: Found, wanted: boolean): Promise<void> => {
  const user = userOf(call);
  await call.write(async (tx) => {
    if ((await isSubscribed(tx.db, user.id, found.target)) === wanted) throw notModified();
    await setSubscribed(tx, user.id, found.target, wanted);
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
      params: object({ id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) }),
      reply: shape,
      handle: async (call, params) => {
        const found = await noun.find(call, params['id'] as number | string, params[noun.param] as number);
        await change(call, found, name === 'subscribe');
        return await render(call, found);
      },
    });
  return [route('subscribe'), route('unsubscribe')];
};
