import { endpoint } from '../../core/access/endpoint.ts';
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
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { formatTime } from '../../platform/time.ts';
import { listAuditEvents } from './audit_queries.ts';

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

const listEvents = endpoint({
  method: 'GET',
  path: '/audit_events',
  summary: 'List security events, newest first',
  area: 'settings',
  audience: 'admin',
  list: true,
  params: object({
    kind: optional(text({ description: 'Such as session.created or settings.changed' })),
    actor_id: optional(id('User who caused the event')),
    target_type: optional(text({ description: 'such as User, Project, Group' })),
    target_id: optional(id()),
    entity_type: unsupportedFilter(),
    entity_id: unsupportedFilter(),
    created_after: optional(time()),
    created_before: optional(time()),
    ...pageParams,
  }),
  reply: auditEventShape,
  handle: async ({ db }, { page, per_page, ...filter }) => {
    const { items: rows, total } = await listAuditEvents(db, filter, pageRequest({ page, per_page }));
    const items = rows.map(({ ip, details, ...row }) => ({
      ...row,
      created_at: formatTime(row.created_at),
      ip_address: ip,
      details: JSON.parse(details) as unknown,
    }));
    return { items, total };
  },
});

export const auditRoutes = [listEvents];
