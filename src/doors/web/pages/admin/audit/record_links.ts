/** Links of the audit log to the records that its events name. */
import { type BasicUserRow, basicUsersById } from '../../../../../identity/users/json.ts';
import type { Reader } from '../../../../../platform/db/open.ts';
import { type Project, projectsById } from '../../../../../projects/projects/find.ts';
import type { AuditRow } from '../../../../instance/audit_queries.ts';
import { type Html, html } from '../../../parts/html.ts';

/** Records that still exist, by id. */
export type NamedRecords = { users: Map<number, BasicUserRow>; projects: Map<number, Project> };

/** Loads the users and projects that events name. */
export const loadNamedRecords = async (db: Reader, events: readonly AuditRow[]): Promise<NamedRecords> => {
  const targetIds = (type: string): number[] =>
    events
      .filter(({ target_type }) => target_type === type)
      .map(({ target_id }) => target_id)
      .filter((id) => id !== null);
  const actors = events.flatMap(({ actor_id, sudo_by_id }) => [actor_id, sudo_by_id]);
  const projectIds = targetIds('Project');
  const [users, projects] = await Promise.all([
    basicUsersById(db, [...actors.filter((id) => id !== null), ...targetIds('User')]),
    projectIds.length === 0 ? new Map<number, Project>() : projectsById(db, projectIds),
  ]);
  return { users, projects };
};

/** Links to the page of a user; of a deleted one, the id remains. */
export const userLink = (id: number, { users }: NamedRecords): Html => {
  const user = users.get(id);
  return user === undefined ? html`user ${id}` : html`<a href="/admin/users/${id}">${user.username}</a>`;
};

/** Links to the target of an event: to its page of administration, or to all events about it. */
export const recordLink = (
  { target_type: type, target_id: id }: AuditRow,
  records: NamedRecords,
  path: string,
): Html | null => {
  if (type === null) return null;
  if (id === null) return html`${type}`;
  if (type === 'User' && records.users.has(id)) return html`User ${userLink(id, records)}`;
  const project = type === 'Project' ? records.projects.get(id) : undefined;
  if (project !== undefined) return html`Project <a href="/admin/projects/${id}">${project.full_path}</a>`;
  const query = new URLSearchParams({ target_type: type, target_id: String(id) });
  return html`<a href="${path}?${query.toString()}" aria-label="All events about ${type} ${id}">${type} ${id}</a>`;
};
