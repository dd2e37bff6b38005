/** Makes the todo renderers of issues and merge requests. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, requireUser } from '../../core/access/call.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { type Project, projectsById } from '../../projects/projects/find.ts';
import { subscribedTargets } from '../subscriptions/subscriptions.ts';
import type { TodoRenderer } from './queries.ts';

type Shown = {
  id: number;
  iid: number;
  project_id: number;
  project_path: string;
  author_id: number;
  assignees: { id: number }[];
};

type Kind<R> = {
  type: TargetType;
  table: 'issues' | 'merge_requests';
  /** SQL condition over the kind's table, joined with `projects`: the viewer sees the record. */
  visible: (viewer: Viewer, dialect: SqlDialect) => RawBuilder<boolean>;
  /** Loads the records of these ids that meet the condition. */
  read: (db: Reader, ids: number[], isVisible: RawBuilder<boolean>) => Promise<R[]>;
  json: (record: R, call: Call, at: { project: Project; subscribed: boolean }) => object;
  url: (baseUrl: string, projectPath: string, iid: number) => string;
};

export const todoRenderer = <R extends Shown>(kind: Kind<R>): TodoRenderer => {
  const { type, table, json, url } = kind;
  const seenBy = ({ viewer, platform }: Call) => kind.visible(viewer, platform.store.dialect);
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return {
    visible: (call) =>
      sql<boolean>`exists (select 1 from ${sql.table(table)} join projects on projects.id = ${column('project_id')}
        where ${column('id')} = todos.target_id and ${seenBy(call)})`,
    render: async (call, ids) => {
      const records = await kind.read(call.db, ids, seenBy(call));
      if (records.length === 0) return new Map();
      const projects = await projectsById(call.db, [...new Set(records.map((one) => one.project_id))]);
      const targets = records.map(({ id, author_id, assignees }) => {
        return { id, author_id, assignee_ids: assignees.map((one) => one.id) };
      });
      const subscribed = await subscribedTargets(call.db, requireUser(call).id, type, targets);
      return new Map(
        records.flatMap((one) => {
          const project = projects.get(one.project_id);
          if (project === undefined) return [];
          const page = url(call.baseUrl, one.project_path, one.iid);
          const at = { project, subscribed: subscribed.has(one.id) };
          return [[one.id, { json: json(one, call, at), url: page, project }] as const];
        }),
      );
    },
  };
};
