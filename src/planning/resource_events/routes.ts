/** Endpoints of the changes of state, labels and milestone, for any noun. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { type PageRequest, pageParams, pageRequest } from '../../platform/http/page.ts';
import { id, idOrPath, object } from '../../platform/http/schema.ts';
import { type Noun, type Target, withArticle } from '../issuables/target.ts';
import { resourceEventShape, resourceEventsJson } from './json.ts';

const kinds = { state: 'state', label: 'labels', milestone: 'the milestone' } as const;

type Kind = keyof typeof kinds;

const selectEvents = ({ db }: Call, { type, id: target_id }: Target, kind: Kind) =>
  db
    .selectFrom('resource_events')
    .where('target_type', '=', type)
    .where('target_id', '=', target_id)
    .where('kind', '=', kind);

const listEvents = async (call: Call, target: Target, kind: Kind, { limit, offset }: PageRequest) => {
  const events = selectEvents(call, target, kind);
  const [{ total }, rows] = await Promise.all([
    events.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    events.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items: await resourceEventsJson(call, rows), total };
};

const declareRoutes = (noun: Noun, kind: Kind) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}/resource_${kind}_events`;
  const params = { id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) };
  const shared = { area: noun.segment, audience: 'user', reply: resourceEventShape } as const;
  const find = async (call: Call, input: Record<string, unknown>): Promise<Target> =>
    (await noun.find(call, input['id'] as number | string, input[noun.param] as number)).target;
  const list = endpoint({
    method: 'GET',
    path,
    summary: `List changes of ${kinds[kind]} of ${withArticle(noun.word)}, earliest first`,
    ...shared,
    list: true,
    params: object({ ...params, ...pageParams }),
    handle: async (call, params) =>
      await listEvents(call, await find(call, params), kind, pageRequest(params)),
  });
  const show = endpoint({
    method: 'GET',
    path: `${path}/:resource_event_id`,
    summary: `Get a change of ${kinds[kind]} of ${withArticle(noun.word)}`,
    ...shared,
    params: object({ ...params, resource_event_id: id('id of the change') }),
    handle: async (call, params) => {
      const events = selectEvents(call, await find(call, params), kind);
      const row = await events.selectAll().where('id', '=', params.resource_event_id).executeTakeFirst();
      if (row === undefined) throw notFound();
      return (await resourceEventsJson(call, [row]))[0];
    },
  });
  return [list, show];
};

export const resourceEventRoutes = (noun: Noun) =>
  (Object.keys(kinds) as Kind[]).flatMap((kind) => declareRoutes(noun, kind));
