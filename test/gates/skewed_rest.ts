/** Thousands of everything else that lists show: users, projects, labels, comments, events, todos. SQLite only. */
import { sql } from 'kysely';
import type { TestService } from '../support/service.ts';
import type { Skewed } from './skewed.ts';

const rest = 3000;

/** One query each, over the numbers `n`. All belong to the one project or user, or to what stands in the first row. */
const statements = ({ project, user, milestone_id }: Skewed, group_id: number): string[] => {
  const times = '1500000000000 + n, 1500000000000 + n';
  const issue = `(select min(id) from issues where project_id = ${project.id})`;
  const request = `(select min(id) from merge_requests where project_id = ${project.id})`;
  const notes = (type: string, target: string): string =>
    `insert into notes (project_id, target_type, target_id, author_id, body, system, created_at, updated_at, discussion_id)
      select ${project.id}, '${type}', ${target}, ${user.id}, 'Comment ' || n, n % 2, ${times}, 'd' || n from numbers`;
  return [
    `insert into users (username, name, email, state, admin, external, can_create_group, search_text, created_at, updated_at)
      select 'crowd' || n, 'Crowd ' || n, 'crowd' || n || '@example.com', 'active', 0, 0, 1, 'crowd' || n, ${times} from numbers`,
    `insert into members (user_id, source_type, source_id, access_level, created_at)
      select id, 'Project', ${project.id}, 20, created_at from users where username like 'crowd%'`,
    `insert into members (user_id, source_type, source_id, access_level, created_at)
      select id, 'Namespace', ${group_id}, 10, created_at from users where username like 'crowd%'`,
    `insert into projects (namespace_id, path, full_path, name, visibility, creator_id, created_at, updated_at, last_activity_at)
      select ${group_id}, 'many' || n, 'many/many' || n, 'many' || n, 'private', ${user.id}, ${times}, 1500000000000 + n from numbers`,
    `insert into project_counters (project_id) select id from projects where path like 'many%'`,
    `insert into members (user_id, source_type, source_id, access_level, created_at)
      select ${user.id}, 'Project', id, 30, created_at from projects where path like 'many%' limit 20`,
    `insert into labels (project_id, title, color, created_at, updated_at)
      select ${project.id}, 'label ' || n, '#fff', ${times} from numbers`,
    `insert into milestones (iid, project_id, title, state, created_at, updated_at)
      select n + 10, ${project.id}, 'milestone ' || n, 'active', ${times} from numbers`,
    `update milestones set title = 'v1' where id = ${milestone_id}`,
    notes('Issue', issue),
    notes('MergeRequest', request),
    `insert into todos (user_id, author_id, project_id, target_type, target_id, action, body, state, created_at, updated_at)
      select ${user.id}, 1, ${project.id}, 'Issue', ${issue} + n - 1, 'assigned', '', case when n % 2 = 0 then 'done' else 'pending' end, ${times} from numbers`,
    `insert into events (created_at, actor_id, project_id, kind, target_type, target_id, data)
      select 1500000000000 + n, ${user.id}, ${project.id}, 'issue.created', 'Issue', ${issue}, '{"iid":1}' from numbers`,
    `insert into award_emoji (name, user_id, target_type, target_id, created_at, updated_at)
      select 'thumbsup', id, 'Issue', ${issue}, ${times.replaceAll('n', 'id')} from users where username like 'crowd%'`,
    `insert into snippets (project_id, author_id, title, file_name, content, visibility, user_agent, ip_address, created_at, updated_at)
      select ${project.id}, ${user.id}, 'snippet ' || n, 'a.txt', 'x', 'private', '', '', ${times} from numbers`,
    `insert into merge_requests_closing_issues (merge_request_id, issue_id)
      select id, ${issue} + 1 from merge_requests where project_id = ${project.id} order by id limit 20`,
  ];
};

export const fillRest = async (gantry: TestService, skewed: Skewed): Promise<void> => {
  const { store } = gantry.service.platform;
  const { namespace_id } = await store.db
    .selectFrom('projects')
    .select('namespace_id')
    .where('id', '=', skewed.project.id)
    .executeTakeFirstOrThrow();
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rest})`;
  await store.write(async ({ db }) => {
    for (const text of statements(skewed, namespace_id)) {
      await sql.raw(text.includes('from numbers') ? `${numbers} ${text}` : text).execute(db);
    }
  });
};
