/** The measured requests and the answers that they must get. */
import type { CheckedRequest } from './load_job.ts';
import type { World } from '../sites/seed_database.ts';

export const projectPath = ({ project_id }: World): string => `/api/v4/projects/${project_id}/issues`;

const list = (world: World, count: 20 | 100): CheckedRequest[] => [
  {
    method: 'GET',
    path: `${projectPath(world)}${count === 20 ? '' : `?per_page=${count}`}`,
    status: 200,
    ids: world.newest.slice(0, count).map(({ id }) => id),
  },
];

export const get = (world: World): CheckedRequest[] =>
  world.sample.map(({ iid }) => ({ method: 'GET', path: `${projectPath(world)}/${iid}`, status: 200, iid }));

const description =
  'What happens: it stops. What should happen: it continues, as in the version before. '.repeat(5);

/** With labels, an assignee and a milestone, as from a form. */
const create = (world: World): CheckedRequest[] =>
  world.users.slice(10, 40).map(({ id }, index) => ({
    method: 'POST',
    path: projectPath(world),
    body: JSON.stringify({
      title: 'Made by the bench {n}',
      description,
      labels: `${world.labels[index % 10]?.title},${world.labels[(index * 7) % 60]?.title}`,
      assignee_ids: [id],
      milestone_id: world.milestones[index % 5]?.id,
    }),
    status: 201,
    titleIsSent: true,
  }));

const edit = (world: World): CheckedRequest[] =>
  world.sample.map(({ iid }) => ({
    method: 'PUT',
    path: `${projectPath(world)}/${iid}`,
    body: JSON.stringify({ title: 'Edited by the bench {n}' }),
    status: 200,
    iid,
    titleIsSent: true,
  }));

export type Operation = 'list20' | 'list100' | 'get' | 'create' | 'edit';

export const operations: { [O in Operation]: (world: World) => CheckedRequest[] } = {
  list20: (world) => list(world, 20),
  list100: (world) => list(world, 100),
  get,
  create,
  edit,
};

export const isWrite = (operation: Operation): boolean => operation === 'create' || operation === 'edit';

/** Filtered lists, by their filter. */
export const filtered = (world: World): { [name: string]: string } => {
  const own = projectPath(world);
  const [common, rare] = [world.labels[0], world.labels[40]];
  const iids = world.sample.slice(0, 20).map(({ iid }) => `iids[]=${iid}`);
  return {
    state: `${own}?state=opened`,
    'order by updated_at': `${own}?order_by=updated_at`,
    'common label': `${own}?labels=${encodeURIComponent(common?.title ?? '')}`,
    'rare label': `${own}?labels=${encodeURIComponent(rare?.title ?? '')}`,
    'two labels': `${own}?labels=${encodeURIComponent(`${common?.title},${world.labels[5]?.title}`)}`,
    'no label': `${own}?labels=None`,
    'label, opened, by updated_at': `${own}?labels=${encodeURIComponent(common?.title ?? '')}&state=opened&order_by=updated_at`,
    'common milestone': `${own}?milestone=v0`,
    'rare milestone': `${own}?milestone=v20`,
    'common assignee': `${own}?assignee_id=${world.users[0]?.id}`,
    'rare assignee': `${own}?assignee_id=${world.users[400]?.id}`,
    'nobody assigned': `${own}?assignee_id=0`,
    'common author': `${own}?author_id=${world.users[0]?.id}`,
    'rare author': `${own}?author_id=${world.users[400]?.id}`,
    iids: `${own}?${iids.join('&')}`,
    'created between': `${own}?created_after=2020-01-01&created_before=2020-02-01`,
    'updated after': `${own}?updated_after=2024-12-01`,
    everywhere: '/api/v4/issues?scope=all',
    'everywhere, own': '/api/v4/issues',
    'everywhere, assigned': '/api/v4/issues?scope=assigned-to-me',
    group: `/api/v4/groups/${world.group_id}/issues`,
    'group, opened': `/api/v4/groups/${world.group_id}/issues?state=opened`,
  };
};
