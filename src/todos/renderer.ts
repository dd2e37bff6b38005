/** How the todos on one kind of record are shown: what issues and merge requests do alike. */
import { type Call, userOf } from '../access/call.ts';
import type { TargetType } from '../db/schema.ts';
import { projectsById } from '../projects/find.ts';
import { subscribedTargets } from '../subscriptions/subscribed.ts';
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
  visible: TodoRenderer['visible'];
  /** The records of these ids that the caller sees. */
  read: (call: Call, ids: number[]) => Promise<R[]>;
  json: (record: R, call: Call, subscribed: boolean) => object;
  url: (baseUrl: string, projectPath: string, iid: number) => string;
};

export const todoRenderer = <R extends Shown>({ type, visible, read, json, url }: Kind<R>): TodoRenderer => ({
  visible,
  render: async (call, ids) => {
    const records = await read(call, ids);
    if (records.length === 0) return new Map();
    const projects = await projectsById(call.db, [...new Set(records.map((one) => one.project_id))]);
    const targets = records.map(({ id, author_id, assignees }) => {
      return { id, author_id, assignee_ids: assignees.map((one) => one.id) };
    });
    const subscribed = await subscribedTargets(call.db, userOf(call).id, type, targets);
    return new Map(
      records.flatMap((one) => {
        const project = projects.get(one.project_id);
        if (project === undefined) return [];
        const page = url(call.baseUrl, one.project_path, one.iid);
        return [[one.id, { json: json(one, call, subscribed.has(one.id)), url: page, project }] as const];
      }),
    );
  },
});
