import { type Selectable, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { AuditEventsTable } from '../../platform/db/schema/core.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';

export type AuditRow = Selectable<AuditEventsTable>;

/** Times in milliseconds. */
export type AuditFilter = {
  kind?: string | undefined;
  actor_id?: number | undefined;
  target_type?: string | undefined;
  target_id?: number | undefined;
  created_after?: number | undefined;
  created_before?: number | undefined;
};

/** Lists audit events, newest first. */
export const listAuditEvents = async (
  db: Reader,
  filter: AuditFilter,
  { limit, offset }: PageRequest,
): Promise<Page<AuditRow>> => {
  let query = db.selectFrom('audit_events');
  for (const name of ['kind', 'actor_id', 'target_type', 'target_id'] as const) {
    const value = filter[name];
    if (value !== undefined) query = query.where(name, '=', value);
  }
  const { created_after: after, created_before: before } = filter;
  if (after !== undefined) query = query.where('created_at', '>=', after);
  if (before !== undefined) query = query.where('created_at', '<=', before);
  const { total } = await query
    .select((one) => one.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { items, total };
};

/** Lists all kinds in order, with one index lookup for each, independent of the log's length. */
export const auditKinds = async (db: Reader): Promise<string[]> => {
  const { rows } = await sql<{ kind: string }>`
    with recursive kinds (kind) as (
      select min(kind) from audit_events
      union all
      select (select min(kind) from audit_events where kind > kinds.kind) from kinds where kinds.kind is not null
    )
    select kind from kinds where kind is not null`.execute(db);
  return rows.map(({ kind }) => kind);
};
