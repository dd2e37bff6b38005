/** Fills an instance through the API. What exists already is kept, so the seed can run again. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Api, Refused, openApi, orMissing } from './client.ts';
import {
  type SeedGroup,
  type SeedIssue,
  type SeedMergeRequest,
  type SeedProject,
  groups,
  projects,
  users,
} from './content.ts';

type Id = { id: number };
type Iid = { iid: number };

export type Filling = {
  /** Numbers of records that this run created, and that existed before, by kind: `issues`. */
  created: Record<string, number>;
  existing: Record<string, number>;
  usernames: string[];
};

type Run = { api: Api; count: (kind: string, isNew: boolean) => void };

const esc = encodeURIComponent;

/** Finds a record or creates it, and counts which of the two happened. */
const ensure = async <T>(
  { count }: Run,
  kind: string,
  find: () => Promise<T | undefined>,
  create: () => Promise<T>,
): Promise<{ record: T; isNew: boolean }> => {
  const existing = await find();
  const record = existing ?? (await create());
  count(kind, existing === undefined);
  return { record, isNew: existing === undefined };
};

const addUsers = async (run: Run, password: string): Promise<Map<string, number>> => {
  const ids = new Map<string, number>();
  for (const { username, name } of users) {
    const json = { username, name, email: `${username}@example.com`, password, skip_confirmation: true };
    const { record } = await ensure<Id>(
      run,
      'users',
      async () => (await run.api<Id[]>(`GET /users?username=${username}`))[0],
      async () => await run.api('POST /users', { json }),
    );
    ids.set(username, record.id);
  }
  return ids;
};

const addMembers = async (run: Run, group: Id, members: SeedGroup['members'], ids: Map<string, number>) => {
  for (const [username, access_level] of Object.entries(members)) {
    const path = `/groups/${group.id}/members`;
    await ensure(
      run,
      'members',
      async () => await orMissing(run.api(`GET ${path}/${ids.get(username)}`)),
      async () => await run.api(`POST ${path}`, { json: { user_id: ids.get(username), access_level } }),
    );
  }
};

const addGroups = async (run: Run, ids: Map<string, number>): Promise<void> => {
  for (const { path, name, parent, members } of groups) {
    const above = parent === undefined ? undefined : await run.api<Id>(`GET /groups/${esc(parent)}`);
    const full = parent === undefined ? path : `${parent}/${path}`;
    const json = { path, name, visibility: 'public', ...(above !== undefined && { parent_id: above.id }) };
    const { record } = await ensure<Id>(
      run,
      'groups',
      async () => await orMissing(run.api(`GET /groups/${esc(full)}`)),
      async () => await run.api('POST /groups', { json }),
    );
    await addMembers(run, record, members, ids);
  }
};

const commit = async (
  { api }: Run,
  project: Id,
  as: string,
  { branch, start, message, files }: { branch: string; start?: string; message: string; files: object },
): Promise<void> => {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content: content as string,
  }));
  const json = {
    branch,
    commit_message: message,
    actions,
    ...(start !== undefined && { start_branch: start }),
  };
  await api(`POST /projects/${project.id}/repository/commits`, { as, json });
};

const hasBranch = async ({ api }: Run, { id }: Id, branch: string): Promise<boolean> =>
  (await orMissing(api(`GET /projects/${id}/repository/branches/${esc(branch)}`))) !== undefined;

const comment = async ({ api }: Run, path: string, comments: [string, string][] = []): Promise<void> => {
  for (const [as, body] of comments) await api(`POST ${path}/notes`, { as, json: { body } });
};

type Made = { id: number; milestones: Map<string, number> };

const addIssue = async (
  run: Run,
  project: Made,
  issue: SeedIssue,
  ids: Map<string, number>,
): Promise<void> => {
  const { title, description, author, assignee, labels, milestone } = issue;
  const path = `/projects/${project.id}/issues`;
  const json = {
    title,
    description,
    ...(labels !== undefined && { labels }),
    ...(assignee !== undefined && { assignee_ids: [ids.get(assignee)] }),
    ...(milestone !== undefined && { milestone_id: project.milestones.get(milestone) }),
  };
  const { record, isNew } = await ensure<Iid>(
    run,
    'issues',
    async () => {
      const list = await run.api<(Iid & { title: string })[]>(`GET ${path}?search=${esc(title)}&in=title`);
      return list.find((one) => one.title === title);
    },
    async () => await run.api(`POST ${path}`, { as: author, json }),
  );
  if (!isNew) return;
  await comment(run, `${path}/${record.iid}`, issue.comments);
  if (issue.closed)
    await run.api(`PUT ${path}/${record.iid}`, { as: author, json: { state_event: 'close' } });
};

/** Git merges a request only once its merge status is known. */
const merge = async ({ api }: Run, path: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await api(`PUT ${path}/merge`, { json: {} });
      return;
    } catch (error) {
      const isEarly = error instanceof Refused && [405, 406, 409].includes(error.status);
      if (!isEarly || attempt === 20) throw error;
      await wait(100 * attempt);
    }
  }
};

const addMergeRequest = async (
  run: Run,
  project: Id,
  request: SeedMergeRequest,
  ids: Map<string, number>,
): Promise<void> => {
  const { branch, title, author, files, description = '', labels = '', reviewers = [] } = request;
  const path = `/projects/${project.id}/merge_requests`;
  const { record, isNew } = await ensure<Iid>(
    run,
    'merge requests',
    async () => (await run.api<Iid[]>(`GET ${path}?source_branch=${esc(branch)}`))[0],
    async () => {
      if (!(await hasBranch(run, project, branch)))
        await commit(run, project, author, { branch, start: 'main', message: title, files });
      const reviewer_ids = reviewers.map((name) => ids.get(name));
      const json = { source_branch: branch, target_branch: 'main', title, description, labels, reviewer_ids };
      return await run.api(`POST ${path}`, { as: author, json });
    },
  );
  if (!isNew) return;
  await comment(run, `${path}/${record.iid}`, request.comments);
  if (request.merged) await merge(run, `${path}/${record.iid}`);
};

const addLabels = async (run: Run, project: Id, labels: SeedProject['labels']): Promise<void> => {
  const path = `/projects/${project.id}/labels`;
  for (const [name, color] of labels) {
    await ensure<{ name: string }>(
      run,
      'labels',
      async () => (await run.api<{ name: string }[]>(`GET ${path}`)).find((one) => one.name === name),
      async () => await run.api(`POST ${path}`, { json: { name, color } }),
    );
  }
};

const addMilestones = async (
  run: Run,
  project: Id,
  milestones: SeedProject['milestones'],
): Promise<Map<string, number>> => {
  const path = `/projects/${project.id}/milestones`;
  const made = new Map<string, number>();
  for (const json of milestones) {
    const { record } = await ensure<Id>(
      run,
      'milestones',
      async () => (await run.api<Id[]>(`GET ${path}?title=${esc(json.title)}`))[0],
      async () => await run.api(`POST ${path}`, { json }),
    );
    made.set(json.title, record.id);
  }
  return made;
};

/** Adds the commits of `main`, and tags and releases its last one. */
const addCode = async (run: Run, project: Id, seeded: SeedProject): Promise<void> => {
  const { author, files, history, releases } = seeded;
  if (await hasBranch(run, project, 'main')) return;
  await commit(run, project, author, { branch: 'main', message: 'Begin', files });
  for (const { author: as, message, files: added } of history)
    await commit(run, project, as, { branch: 'main', message, files: added });
  for (const release of releases)
    await run.api(`POST /projects/${project.id}/releases`, { as: author, json: { ...release, ref: 'main' } });
};

const addProject = async (run: Run, project: SeedProject, ids: Map<string, number>): Promise<void> => {
  const { namespace, path, name, visibility, author, description, topics } = project;
  const { record, isNew } = await ensure<Id>(
    run,
    'projects',
    async () => await orMissing(run.api(`GET /projects/${esc(`${namespace}/${path}`)}`)),
    async () => {
      const [above] = (
        await run.api<(Id & { full_path: string })[]>(`GET /namespaces?search=${esc(namespace)}`)
      ).filter(({ full_path }) => full_path === namespace);
      const about = { name, path, visibility, description, topics };
      const json = { ...about, default_branch: 'main', namespace_id: above?.id };
      return await run.api('POST /projects', { as: author, json });
    },
  );
  await addLabels(run, record, project.labels);
  const milestones = await addMilestones(run, record, project.milestones);
  await addCode(run, record, project);
  if (isNew) for (const as of project.stars) await run.api(`POST /projects/${record.id}/star`, { as });
  for (const issue of project.issues) await addIssue(run, { ...record, milestones }, issue, ids);
  for (const request of project.mergeRequests) await addMergeRequest(run, record, request, ids);
};

/**
 * Fills the instance at `url` with made-up users, groups, projects with code, issues, merge requests and pipelines.
 * @param token of an administrator, with the scopes `api` and `sudo`
 * @param password of the users that are created; existing users keep theirs
 */
export const fill = async (site: { url: string; token: string; password: string }): Promise<Filling> => {
  const filling: Filling = { created: {}, existing: {}, usernames: users.map(({ username }) => username) };
  const run: Run = {
    api: openApi(site.url, site.token),
    count: (kind, isNew) => {
      const counts = isNew ? filling.created : filling.existing;
      counts[kind] = (counts[kind] ?? 0) + 1;
    },
  };
  const ids = await addUsers(run, site.password);
  await addGroups(run, ids);
  for (const project of projects) await addProject(run, project, ids);
  return filling;
};

const countsText = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([kind, number]) => `${number} ${kind}`)
    .join(', ');

/** Says what the seed created, and how to sign in. */
export const fillingText = (
  url: string,
  { created, existing, usernames }: Filling,
  password: string,
): string => {
  const isNew = created['users'] !== undefined;
  return [
    `Created: ${countsText(created) || 'nothing'}.`,
    ...(Object.keys(existing).length === 0 ? [] : [`Already there: ${countsText(existing)}.`]),
    `Sign in at ${new URL('/users/sign_in', url).href}`,
    `  users     ${usernames.join(', ')}`,
    `  password  ${isNew ? password : '(as it was when they were created)'}`,
  ].join('\n');
};
