import { endpoint } from '../access/call.ts';
import {
  anything,
  id,
  int,
  nullable,
  object,
  optional,
  string,
  text,
  time,
  timestamp,
} from '../http/schema.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { formatTime } from '../time.ts';

const auditEventShape = object({
  id: int,
  created_at: timestamp,
  kind: string,
  actor_id: nullable(int),
  sudo_by_id: nullable(int),
  target_type: nullable(string),
  target_id: nullable(int),
  ip_address: string,
  user_agent: string,
  details: anything,
});

const listAuditEvents = endpoint({
  method: 'GET',
  path: '/audit_events',
  summary: 'What happened that concerns safety, newest first',
  area: 'settings',
  audience: 'admin',
  list: true,
  params: object({
    kind: optional(text({ description: 'Such as session.created or settings.changed' })),
    actor_id: optional(id('Who did it')),
    target_type: optional(text({ description: 'Such as User, Project, Group' })),
    target_id: optional(id()),
    created_after: optional(time()),
    created_before: optional(time()),
    ...pageParams,
  }),
  reply: auditEventShape,
  handle: async ({ db }, params) => {
    let query = db.selectFrom('audit_events');
    for (const name of ['kind', 'actor_id', 'target_type', 'target_id'] as const) {
      if (params[name] !== undefined) query = query.where(name, '=', params[name]);
    }
    if (params.created_after !== undefined) query = query.where('created_at', '>=', params.created_after);
    if (params.created_before !== undefined) query = query.where('created_at', '<=', params.created_before);
    const { limit, offset } = pageRequest(params);
    const { total } = await query
      .select((one) => one.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
    const items = rows.map(({ ip, details, ...row }) => ({
      ...row,
      created_at: formatTime(row.created_at),
      ip_address: ip,
      details: JSON.parse(details) as unknown,
    }));
    return { items, total };
  },
});

export const auditRoutes = [listAuditEvents];
