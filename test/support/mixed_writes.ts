/** Clients that concurrently write issues, notes, pipelines and merges into one project, through the API alone. */
import { setTimeout as wait } from 'node:timers/promises';

export type Site = {
  /** `http://127.0.0.1:1234`. */
  url: string;
  token: string;
  /** Two projects of one group with `.gitlab-ci.yml` on `main`; nearly all writes go to the first. */
  projects: [number, number];
};

/** `began` is `performance.now()` of the request. */
export type Answer = { kind: string; status: number; began: number; milliseconds: number; text: string };

type Client = { site: Site; index: number; answers: Answer[] };

const send = async (client: Client, kind: string, line: string, body: object = {}) => {
  const [method = 'GET', path = ''] = line.split(' ');
  const began = performance.now();
  const response = await fetch(`${client.site.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': client.site.token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const milliseconds = performance.now() - began;
  client.answers.push({ kind, status: response.status, began, milliseconds, text: text.slice(0, 300) });
  return response.ok && text !== '' ? JSON.parse(text) : {};
};

/** iids of the issues that every client edits and mentions; few, so that clients contend for them. */
const shared = 8;

type WriteKind = (client: Client, round: number) => Promise<void>;

const createIssue: WriteKind = async (client, round) => {
  const [id, other] = client.site.projects;
  const labels = [`l${round % 5}`, `l${(client.index * 3 + round) % 5}`, 'all'].join(',');
  const description = `See #${1 + (round % shared)} and #${1 + (client.index % shared)}. @root`;
  const json = { title: `Issue ${round}`, description, labels };
  const issue = await send(client, 'issue', `POST /projects/${id}/issues`, json);
  if (round % 5 === 0 && issue.iid !== undefined) {
    const move = `POST /projects/${id}/issues/${issue.iid}/move`;
    await send(client, 'move', move, { to_project_id: other });
  }
};

const editIssue: WriteKind = async (client, round) => {
  const [id] = client.site.projects;
  const path = `/projects/${id}/issues/${1 + ((client.index + round) % shared)}`;
  const state_event = (client.index + round) % 2 === 0 ? 'close' : 'reopen';
  const json = { state_event, add_labels: `l${round % 5}`, remove_labels: `l${(round + 1) % 5}` };
  await send(client, 'edit', `PUT ${path}`, json);
};

const comment: WriteKind = async (client, round) => {
  const [id] = client.site.projects;
  const path = `/projects/${id}/issues/${1 + ((client.index * 5 + round) % shared)}`;
  const body = `Round ${round}, as in #${1 + ((round * 3) % shared)}, @root`;
  await send(client, 'note', `POST ${path}/notes`, { body });
  if (round % 4 === 0) await send(client, 'award', `POST ${path}/award_emoji`, { name: 'rocket' });
};

const runPipeline: WriteKind = async (client) => {
  const [id] = client.site.projects;
  await send(client, 'pipeline', `POST /projects/${id}/pipeline`, { ref: 'main' });
};

const commitTo = async (client: Client, branch: string, path: string) => {
  const [id] = client.site.projects;
  const actions = [{ action: 'create', file_path: path, content: `${path}\n` }];
  const json = { branch, start_branch: 'main', commit_message: `Add ${path} (#1)`, actions };
  await send(client, 'commit', `POST /projects/${id}/repository/commits`, json);
};

const mergeBranch: WriteKind = async (client, round) => {
  const [id] = client.site.projects;
  const branch = `work-${client.index}-${round}`;
  await commitTo(client, branch, `${branch}.txt`);
  const texts = { title: branch, description: `Closes #${1 + (round % shared)}, see #2`, labels: 'all,l1' };
  const json = { source_branch: branch, target_branch: 'main', ...texts };
  const made = await send(client, 'request', `POST /projects/${id}/merge_requests`, json);
  if (made.iid === undefined) return;
  const path = `/projects/${id}/merge_requests/${made.iid}`;
  await send(client, 'note', `POST ${path}/notes`, { body: `About #${1 + (client.index % shared)}` });
  await send(client, 'merge', `PUT ${path}/merge`, { should_remove_source_branch: true });
};

const renameLabel: WriteKind = async (client, round) => {
  const [id] = client.site.projects;
  const json = { name: `l${round % 5}`, color: round % 2 === 0 ? '#112233' : '#332211' };
  await send(client, 'label', `PUT /projects/${id}/labels`, json);
  const title = `Milestone ${client.index}-${round}`;
  const milestone = await send(client, 'milestone', `POST /projects/${id}/milestones`, { title });
  if (milestone.id === undefined) return;
  const issue = `/projects/${id}/issues/${1 + (round % shared)}`;
  await send(client, 'edit', `PUT ${issue}`, { milestone_id: milestone.id });
};

const kinds: WriteKind[] = [
  createIssue,
  editIssue,
  comment,
  runPipeline,
  createIssue,
  mergeBranch,
  renameLabel,
];

const runClient = async (client: Client, until: () => boolean): Promise<void> => {
  for (let round = 0; !until(); round += 1) {
    const write = kinds[(client.index + round) % kinds.length];
    await write?.(client, round);
    // Without a random pause the clients would stay in step.
    await wait(Math.random() * 5);
  }
};

/** Creates the group, projects, configuration and shared issues. */
export const prepareSite = async (url: string, token: string): Promise<Site> => {
  const site: Site = { url, token, projects: [0, 0] };
  const client: Client = { site, index: 0, answers: [] };
  const name = `mixed-${Date.now()}`;
  const group = await send(client, 'group', 'POST /groups', { name, path: name });
  for (const index of [0, 1] as const) {
    const json = { name: `p${index}`, namespace_id: group.id };
    const { id } = await send(client, 'project', 'POST /projects', json);
    site.projects[index] = id;
    const content = 'one:\n  script: [echo]\ntwo:\n  stage: deploy\n  script: [echo]\n  environment: live\n';
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
    const commit = { branch: 'main', commit_message: 'Begin', actions };
    await send(client, 'commit', `POST /projects/${id}/repository/commits`, commit);
  }
  for (let round = 0; round < shared; round += 1) {
    await send(client, 'issue', `POST /projects/${site.projects[0]}/issues`, { title: `Shared ${round}` });
  }
  const failed = client.answers.find(({ status }) => status >= 300);
  if (failed !== undefined) throw new Error(JSON.stringify(failed));
  return site;
};

/** Runs clients until `until` holds; returns every response they received. */
export const writeMixed = async (site: Site, clients: number, until: () => boolean): Promise<Answer[]> => {
  const all = Array.from({ length: clients }, (_, index): Client => ({ site, index, answers: [] }));
  await Promise.all(all.map((client) => runClient(client, until)));
  return all.flatMap(({ answers }) => answers);
};
