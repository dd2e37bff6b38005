/**
 * Lists of issues over changing data. Each list contains exactly what its viewer may see and its filters select, in
 * order, with exact totals. The expected result is computed here, from what an administrator sees.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { seed, times } from '../support/run/sample.ts';
import { type SeededUser, seedGroup, seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Wire, openWire } from './pipelined_requests.ts';

const draws = times(300, 120);
/** Number of lists between two changes. */
const changeEvery = 3;

type Issue = {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  created_at: string;
  updated_at: string;
  labels: string[];
  milestone: Milestone | null;
  author: { id: number; username: string };
  assignees: { id: number; username: string }[];
  confidential: boolean;
};

type Milestone = {
  id: number;
  project_id: number;
  title: string;
  state: string;
  start_date: string | null;
  due_date: string | null;
};

type Looker = SeededUser & { name: string; external?: true };

let gantry: TestService;
let wire: Wire;
let root: Looker;
let lookers: Looker[];
let group: { id: number; full_path: string };
let projects: {
  id: number;
  visibility: 'private' | 'internal' | 'public';
  members_only?: true;
  inGroup?: true;
}[];
/** Role by user id and project id. */
const roles = new Map<string, number>();
/** The last known records, by id. */
const milestonesNow = new Map<number, Milestone>();
/** Names of the awards by user id and issue id. */
const awards = new Map<string, string[]>();

const labels = ['bug', 'ui', 'slow', 'all hands'];
const milestones = ['v1', 'v2', 'next', 'now'];
const vocabulary = ['apple', 'Pear', 'plum', 'ab', 'cherry pie', 'a_b%c', 'zebra', 'Äpfel', 'x'];
const emoji = ['rocket', 'heart'];

const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const some = <T>(list: readonly T[], chance: number): T[] => list.filter(() => random() < chance);

/** Printed with a failure, to reproduce the data. */
let state = seed;
/** Mulberry32. */
const random = (): number => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
};

const must = async (line: string, options: { as?: string; json?: object } = {}) => {
  const reply = await gantry.api(line, options);
  assert.ok(reply.status < 300, `${line}: ${reply.status} ${reply.text}`);
  return reply.body;
};

const noteMilestone = (milestone: Milestone): void => void milestonesNow.set(milestone.id, milestone);

const makeIssue = async (): Promise<void> => {
  const author = pick(everybody().filter((one) => projects.some((project) => canSee(one, project))));
  const project = pick(projects.filter((one) => canSee(author, one)));
  const made = await must(`POST /projects/${project.id}/issues`, {
    as: author.token,
    json: {
      title: some(vocabulary, 0.3).join(' ') || 'plain',
      description: some(vocabulary, 0.2).join(' '),
      confidential: random() < 0.35,
    },
  });
  await edit(made);
};

const edit = async ({ project_id, iid }: Pick<Issue, 'project_id' | 'iid'>): Promise<void> => {
  const stored = await gantry.service.platform.store.db
    .selectFrom('milestones')
    .select('id')
    .where('project_id', '=', project_id)
    .execute();
  await must(`PUT /projects/${project_id}/issues/${iid}`, {
    json: {
      labels: some(labels, 0.3).join(','),
      assignee_ids: some(lookers, 0.2).map(({ id }) => id),
      milestone_id: random() < 0.5 ? pick(stored).id : 0,
      state_event: random() < 0.3 ? 'close' : 'reopen',
    },
  });
};

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' });
  wire = openWire(gantry.url);
  root = { id: 1, username: 'root', token: 'root-token-of-the-tests', name: 'root' };
  const made = async (name: string, external?: true): Promise<Looker> => ({
    ...(await seedUser(gantry, external ? { external: 1 } : {})),
    name,
    ...(external && { external }),
  });
  const [reporter, guest, developer, stranger, outsider] = [
    await made('reporter'),
    await made('guest'),
    await made('developer'),
    await made('stranger'),
    await made('outsider', true),
  ];
  lookers = [reporter, guest, developer, stranger, outsider];
  group = await seedGroup(gantry, { visibility: 'public' });
  const one = async (
    visibility: 'private' | 'internal' | 'public',
    options: { inGroup?: true; members_only?: true } = {},
  ) => {
    const where = options.inGroup ? { namespace: group.id } : {};
    const level = options.members_only ? { issues_access_level: 'private' as const } : {};
    return { id: (await seedProject(gantry, { visibility, ...where, ...level })).id, visibility, ...options };
  };
  projects = [
    await one('private', { inGroup: true }),
    await one('public', { inGroup: true }),
    await one('internal'),
    await one('public', { members_only: true }),
  ];
  const join = async (
    user: Looker,
    access_level: number,
    where: { group: number } | { project: number },
  ): Promise<void> => {
    await seedMember(gantry, { user: user.id, access_level, ...where });
    for (const { id, inGroup } of projects) {
      if ('group' in where ? inGroup : id === where.project) roles.set(`${user.id} ${id}`, access_level);
    }
  };
  await join(reporter, 20, { group: group.id });
  await join(guest, 10, { group: group.id });
  await join(developer, 30, { project: projects[3]?.id ?? 0 });
  await join(guest, 10, { project: projects[3]?.id ?? 0 });
  const dates = [
    { start_date: day(-9), due_date: day(9) },
    { start_date: day(3), due_date: day(8) },
    { due_date: day(7) },
    { start_date: day(-9), due_date: day(-2) },
  ];
  for (const { id } of projects) {
    for (const [at, title] of milestones.entries()) {
      const json = { title, ...dates[at] };
      noteMilestone(await must(`POST /projects/${id}/milestones`, { json }));
    }
    for (const name of labels)
      await must(`POST /projects/${id}/labels`, { json: { name, color: '#FFFFFF' } });
  }
  for (let n = 0; n < 60; n += 1) await makeIssue();
});
after(async () => {
  wire.close();
  await gantry.close();
});

/* ---- who sees what, as the behaviour book says it ---- */

const roleOf = (user: Looker, project: number): number =>
  user.id === 1 ? 50 : (roles.get(`${user.id} ${project}`) ?? 0);

const canSee = (user: Looker, { id, visibility }: { id: number; visibility: string }): boolean => {
  const members_only = projects.find((one) => one.id === id)?.members_only === true;
  if (roleOf(user, id) > 0) return true;
  if (members_only || visibility === 'private') return false;
  return visibility === 'public' || user.external !== true;
};

const sees = (user: Looker, issue: Issue): boolean => {
  const project = projects.find(({ id }) => id === issue.project_id);
  if (project === undefined || !canSee(user, project)) return false;
  const own = [issue.author, ...issue.assignees].some(({ id }) => id === user.id);
  return !issue.confidential || own || roleOf(user, project.id) >= 20;
};

/* ---- what the filters leave ---- */

type Filters = {
  state?: 'opened' | 'closed' | 'all' | undefined;
  scope?: 'all' | 'created-by-me' | 'assigned_to_me' | undefined;
  labels?: string[] | undefined;
  milestone?: string | undefined;
  author?: number | undefined;
  author_username?: number | undefined;
  assignee?: number | 'None' | 'Any' | '0' | undefined;
  assignee_username?: number | undefined;
  my_reaction_emoji?: string | undefined;
  iids?: number[] | undefined;
  search?: string | undefined;
  confidential?: boolean | undefined;
  created_after?: number | undefined;
  created_before?: number | undefined;
  updated_after?: number | undefined;
  updated_before?: number | undefined;
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
};

const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const person = fc.nat({ max: 5 });
/** Of the issues, by age: the time of one of them. */
const moment = fc.nat({ max: 59 });

const rare = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: one });

const anyFilters: fc.Arbitrary<Filters> = fc.record({
  state: maybe(fc.constantFrom('opened', 'closed', 'all')),
  scope: fc.oneof(
    { weight: 4, arbitrary: fc.constant('all' as const) },
    { weight: 1, arbitrary: fc.constantFrom('created-by-me', 'assigned_to_me') },
  ),
  labels: rare(
    fc.oneof(
      fc.uniqueArray(fc.constantFrom(...labels, 'absent'), { minLength: 1, maxLength: 2 }),
      fc.constantFrom(['None'], ['Any'], ['No Label']),
    ),
  ),
  milestone: rare(
    fc.constantFrom(...milestones, 'absent', 'None', 'Any', 'No Milestone', '#upcoming', '#started'),
  ),
  author: rare(person),
  author_username: rare(person),
  assignee: rare(fc.oneof(person, fc.constantFrom('None', 'Any', '0'))),
  assignee_username: rare(person),
  my_reaction_emoji: rare(fc.constantFrom(...emoji, 'None', 'Any')),
  iids: rare(fc.uniqueArray(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 6 })),
  search: rare(
    fc.oneof(
      fc.constantFrom(...vocabulary, 'absent', 'pie', 'ÄPF', '"cherry pie"', '"pie cherry"', '%', '_'),
      fc.tuple(fc.constantFrom(...vocabulary), fc.constantFrom(...vocabulary)).map((both) => both.join(' ')),
    ),
  ),
  confidential: rare(fc.boolean()),
  created_after: rare(moment),
  created_before: rare(moment),
  updated_after: rare(moment),
  updated_before: rare(moment),
  order_by: fc.constantFrom('created_at', 'updated_at'),
  sort: fc.constantFrom('asc', 'desc'),
}) as fc.Arbitrary<Filters>;

const everybody = (): Looker[] => [root, ...lookers];

const fold = (text: string): string => text.normalize('NFC').toLowerCase();

const isFound = (search: string, { title, description }: Issue): boolean => {
  const words = [...fold(search).matchAll(/(?<!\S)"([^"]+)"(?!\S)|\S+/g)].map(
    ([word, phrase]) => phrase ?? word,
  );
  const long = words.filter((word) => [...word].length >= 3);
  const terms = long.length > 0 ? long : [fold(search).trim()];
  return [title, description ?? ''].some((text) => terms.every((term) => fold(text).includes(term)));
};

/** The milestone of a project that is due next. */
const nextDueOf = (project_id: number): Milestone | undefined =>
  [...milestonesNow.values()]
    .filter((one) => one.project_id === project_id && one.state === 'active' && (one.due_date ?? '') > day(0))
    .toSorted((a, b) => (a.due_date ?? '').localeCompare(b.due_date ?? '') || a.id - b.id)[0];

const isOfMilestone = (wanted: string, { milestone }: Issue): boolean => {
  const { state: is = '', start_date = null } = milestone ?? {};
  switch (wanted) {
    case 'None':
    case 'No Milestone':
      return milestone === null;
    case 'Any':
      return milestone !== null;
    case '#upcoming':
      return milestone !== null && nextDueOf(milestone.project_id)?.id === milestone.id;
    case '#started':
      return is === 'active' && start_date !== null && start_date <= day(0);
    default:
      return milestone?.title === wanted;
  }
};

const hasLabels = (wanted: string[], issue: Issue): boolean => {
  if (wanted[0] === 'None' || wanted[0] === 'No Label') return issue.labels.length === 0;
  if (wanted[0] === 'Any') return issue.labels.length > 0;
  return wanted.every((title) => issue.labels.includes(title));
};

const isAssigned = (issue: Issue, id: number | undefined): boolean =>
  issue.assignees.some((one) => one.id === id);

const hasAssignee = (wanted: number | 'None' | 'Any' | '0', issue: Issue): boolean => {
  if (wanted === 'None' || wanted === '0') return issue.assignees.length === 0;
  return wanted === 'Any' ? issue.assignees.length > 0 : isAssigned(issue, everybody()[wanted]?.id);
};

const hasAward = (wanted: string, user: Looker, issue: Issue): boolean => {
  const own = awards.get(`${user.id} ${issue.id}`) ?? [];
  if (wanted === 'None') return own.length === 0;
  return wanted === 'Any' ? own.length > 0 : own.includes(wanted);
};

/** The issues by age, for filters by time. */
type Context = { user: Looker; times: { created: string[]; updated: string[] } };

const timeAt = (times: string[], at: number): string =>
  times[at % Math.max(times.length, 1)] ?? '2020-01-01T00:00:00.000Z';

const leaves = (f: Filters, { user, times }: Context, issue: Issue): boolean =>
  (f.state === undefined || f.state === 'all' || issue.state === f.state) &&
  (f.scope !== 'created-by-me' || issue.author.id === user.id) &&
  (f.scope !== 'assigned_to_me' || isAssigned(issue, user.id)) &&
  (f.labels === undefined || hasLabels(f.labels, issue)) &&
  (f.milestone === undefined || isOfMilestone(f.milestone, issue)) &&
  (f.author === undefined || issue.author.id === everybody()[f.author]?.id) &&
  (f.author_username === undefined || issue.author.id === everybody()[f.author_username]?.id) &&
  (f.assignee === undefined || hasAssignee(f.assignee, issue)) &&
  (f.assignee_username === undefined || isAssigned(issue, everybody()[f.assignee_username]?.id)) &&
  (f.my_reaction_emoji === undefined || hasAward(f.my_reaction_emoji, user, issue)) &&
  (f.iids === undefined || f.iids.includes(issue.iid)) &&
  (f.search === undefined || isFound(f.search, issue)) &&
  (f.confidential === undefined || issue.confidential === f.confidential) &&
  (f.created_after === undefined || issue.created_at >= timeAt(times.created, f.created_after)) &&
  (f.created_before === undefined || issue.created_at <= timeAt(times.created, f.created_before)) &&
  (f.updated_after === undefined || issue.updated_at >= timeAt(times.updated, f.updated_after)) &&
  (f.updated_before === undefined || issue.updated_at <= timeAt(times.updated, f.updated_before));

const inOrder = ({ order_by, sort }: Filters, issues: Issue[]): Issue[] => {
  const sign = sort === 'asc' ? 1 : -1;
  const compare = (a: Issue, b: Issue): number =>
    a[order_by] === b[order_by] ? a.id - b.id : a[order_by] < b[order_by] ? -1 : 1;
  return issues.toSorted((a, b) => sign * compare(a, b));
};

const queryOf = (f: Filters, { times }: Context): string => {
  const pairs: [string, string | undefined][] = [
    ['state', f.state],
    ['scope', f.scope],
    ['labels', f.labels?.join(',')],
    ['milestone', f.milestone],
    ['author_id', f.author === undefined ? undefined : String(everybody()[f.author]?.id)],
    [
      'author_username',
      f.author_username === undefined ? undefined : everybody()[f.author_username]?.username.toUpperCase(),
    ],
    ['assignee_id', typeof f.assignee === 'number' ? String(everybody()[f.assignee]?.id) : f.assignee],
    [
      'assignee_username',
      f.assignee_username === undefined ? undefined : everybody()[f.assignee_username]?.username,
    ],
    ['my_reaction_emoji', f.my_reaction_emoji],
    ...(f.iids ?? []).map((iid): [string, string] => ['iids[]', String(iid)]),
    ['search', f.search],
    ['confidential', f.confidential === undefined ? undefined : String(f.confidential)],
    ...(['created_after', 'created_before'] as const).map((name): [string, string | undefined] => [
      name,
      f[name] === undefined ? undefined : timeAt(times.created, f[name]),
    ]),
    ...(['updated_after', 'updated_before'] as const).map((name): [string, string | undefined] => [
      name,
      f[name] === undefined ? undefined : timeAt(times.updated, f[name]),
    ]),
    ['order_by', f.order_by],
    ['sort', f.sort],
  ];
  return new URLSearchParams(
    pairs.filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString();
};

/* ---- requests ---- */

type Listed = { issues: Issue[]; totals: string[] };

/** Reads every page of a list. */
const listAll = async (path: string, token: string, per_page: number): Promise<Listed> => {
  const issues: Issue[] = [];
  const totals: string[] = [];
  for (let page = '1'; page !== '';) {
    const url = `/api/v4${path}${path.includes('?') ? '&' : '?'}per_page=${per_page}&page=${page}`;
    const { status, headers, body, text } = await wire.send({
      method: 'GET',
      path: url,
      headers: { 'private-token': token },
    });
    assert.equal(status, 200, text);
    issues.push(...(body as Issue[]));
    totals.push(headers['x-total'] ?? '');
    page = headers['x-next-page'] ?? '';
  }
  return { issues, totals };
};

const places = () => [
  '/issues',
  `/groups/${group.id}/issues`,
  ...projects.map(({ id }) => `/projects/${id}/issues`),
];

const isAt = (place: string, { project_id }: Issue): boolean => {
  if (place === '/issues') return true;
  if (place.startsWith('/groups/')) return projects.find(({ id }) => id === project_id)?.inGroup === true;
  return place === `/projects/${project_id}/issues`;
};

/** Whether the project of a place is visible to the viewer. */
const isOpen = (place: string, user: Looker): boolean => {
  const project = projects.find(({ id }) => place === `/projects/${id}/issues`);
  return (
    project === undefined ||
    roleOf(user, project.id) > 0 ||
    project.visibility === 'public' ||
    (project.visibility === 'internal' && user.external !== true)
  );
};

/** The related records of an issue in their present state. */
const assertCurrent = ({ author, assignees, labels: titles, milestone }: Issue, told: string): void => {
  for (const { id, username } of [author, ...assignees]) {
    assert.equal(username, everybody().find((user) => user.id === id)?.username, told);
  }
  assert.ok(
    titles.every((title) => labels.includes(title)),
    told,
  );
  if (milestone !== null) assert.deepEqual(milestone, milestonesNow.get(milestone.id), told);
};

type ListRequest = { user: Looker; place: string; filters: Filters; per_page: number };

const check = async ({ user, place, filters, per_page }: ListRequest, all: Issue[]): Promise<void> => {
  const times = {
    created: all.map((one) => one.created_at).toSorted(),
    updated: all.map((one) => one.updated_at).toSorted(),
  };
  const context = { user, times };
  const due = inOrder(
    filters,
    all.filter((issue) => isAt(place, issue) && sees(user, issue) && leaves(filters, context, issue)),
  );
  const path = `${place}?${queryOf(filters, context)}`;
  const { issues, totals } = await listAll(path, user.token, per_page);
  const told = `seed ${seed}: GET ${path}&per_page=${per_page} as ${user.name}`;
  assert.deepEqual(issues, due, told);
  for (const issue of issues) assertCurrent(issue, told);
  assert.deepEqual(new Set(totals), new Set([String(due.length)]), told);
};

/* ---- changes ---- */

type Change = () => Promise<unknown>;

const anyIssue = async (): Promise<Issue> =>
  pick((await listAll('/issues?scope=all', root.token, 100)).issues);

const award = async (): Promise<void> => {
  const issue = await anyIssue();
  const user: Looker = pick(everybody().filter((one) => sees(one, issue)));
  const key = `${user.id} ${issue.id}`;
  const name = pick(emoji);
  const own = awards.get(key) ?? [];
  if (own.includes(name)) return;
  await must(`POST /projects/${issue.project_id}/issues/${issue.iid}/award_emoji`, {
    as: user.token,
    json: { name },
  });
  awards.set(key, [...own, name]);
};

const promote = async (): Promise<void> => {
  const user = pick(lookers);
  const { id } = pick(projects);
  const path = `/projects/${id}/members`;
  const inherited =
    projects.find((one) => one.id === id)?.inGroup === true && ['reporter', 'guest'].includes(user.name)
      ? user.name === 'reporter'
        ? 20
        : 10
      : 0;
  const level = pick([0, 10, 20, 30]);
  await gantry.api(`DELETE ${path}/${user.id}`);
  if (level > 0) await must(`POST ${path}`, { json: { user_id: user.id, access_level: level } });
  roles.set(`${user.id} ${id}`, Math.max(level, inherited));
};

const renameLabel = async (): Promise<void> => {
  const { id } = pick(projects);
  const name = pick(labels);
  // Renamed and renamed back: in the end, the names are those of the vocabulary.
  const renamed = await must(`PUT /projects/${id}/labels`, { json: { name, new_name: unique('label') } });
  await listAll(`/projects/${id}/issues?labels=${encodeURIComponent(name)}`, root.token, 100);
  await must(`PUT /projects/${id}/labels/${renamed.id}`, { json: { new_name: name } });
};

const renameUser = async (): Promise<void> => {
  const user = pick(lookers);
  user.username = unique('renamed');
  await must(`PUT /users/${user.id}`, { json: { username: user.username } });
};

const editMilestone = async (): Promise<void> => {
  const { id } = pick(projects);
  const [one] = (await must(`GET /projects/${id}/milestones?title=${pick(milestones)}`)) as {
    id: number;
    state: string;
  }[];
  if (one === undefined) return;
  const dates =
    random() < 0.5
      ? { state_event: one.state === 'active' ? 'close' : 'activate' }
      : { start_date: day(pick([-5, 0, 1, 2])), due_date: day(6) };
  noteMilestone(await must(`PUT /projects/${id}/milestones/${one.id}`, { json: dates }));
};

const switchVisibility = async (): Promise<void> => {
  const project = pick(projects);
  project.visibility = pick(['private', 'internal', 'public'] as const);
  await must(`PUT /projects/${project.id}`, { json: { visibility: project.visibility } });
};

const switchIssues = async (): Promise<void> => {
  const project = pick(projects.filter(({ inGroup }) => inGroup !== true));
  const members_only = random() < 0.5;
  if (members_only) project.members_only = true;
  else delete project.members_only;
  await must(`PUT /projects/${project.id}`, {
    json: { issues_access_level: members_only ? 'private' : 'enabled' },
  });
};

const toggleConfidential = async (): Promise<void> => {
  const { project_id, iid, confidential } = await anyIssue();
  await must(`PUT /projects/${project_id}/issues/${iid}`, { json: { confidential: !confidential } });
};

const retitle = async (): Promise<void> => {
  const { project_id, iid } = await anyIssue();
  await must(`PUT /projects/${project_id}/issues/${iid}`, {
    json: { title: some(vocabulary, 0.4).join(' ') || 'plain' },
  });
};

const removeOne = async (): Promise<void> => {
  const { project_id, iid } = await anyIssue();
  await must(`DELETE /projects/${project_id}/issues/${iid}`);
};

const changes: Change[] = [
  makeIssue,
  makeIssue,
  async () => await edit(await anyIssue()),
  async () => await edit(await anyIssue()),
  award,
  award,
  promote,
  promote,
  renameLabel,
  renameUser,
  editMilestone,
  switchVisibility,
  switchIssues,
  toggleConfidential,
  toggleConfidential,
  retitle,
  removeOne,
];

test(`matches ${draws} lists and their totals with the expected ones`, async () => {
  const drawn = fc.sample(anyFilters, { numRuns: draws, seed });
  let all: Issue[] = [];
  for (const [at, filters] of drawn.entries()) {
    if (at % changeEvery === 0) {
      const change = pick(changes);
      await change();
      // With a unique query each time, so that no page is cached.
      all = (
        await listAll(
          `/issues?scope=all&created_before=${new Date(Date.now() + at * 1000).toISOString()}`,
          root.token,
          100,
        )
      ).issues;
    }
    const user = pick(everybody());
    const place = pick(places().filter((one) => isOpen(one, user)));
    await check({ user, place, filters, per_page: pick([2, 5, 20, 100]) }, all);
    if (at % 5 === 0)
      await check(
        {
          user,
          place,
          filters: { scope: 'all', order_by: 'created_at', sort: 'desc' },
          per_page: pick([2, 20]),
        },
        all,
      );
  }
});

test('finds and counts no word of a confidential issue for users who do not see it', async () => {
  const project = projects[1];
  assert.ok(project);
  await must(`PUT /projects/${project.id}`, { json: { visibility: 'public' } });
  project.visibility = 'public';
  const secret = `secret${unique('').slice(1)}`;
  const label = unique('label');
  const title = unique('milestone');
  const milestone = await must(`POST /projects/${project.id}/milestones`, { json: { title } });
  const made = await must(`POST /projects/${project.id}/issues`, {
    json: {
      title: `A ${secret} of ours`,
      description: `${secret} again`,
      confidential: true,
      labels: label,
      milestone_id: milestone.id,
    },
  });
  const [stranger, guest, external] = [
    await seedUser(gantry),
    await seedUser(gantry),
    await seedUser(gantry, { external: 1 }),
  ];
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 10 });
  const queries = [
    `search=${secret}`,
    `search=${secret.slice(2, 9)}`,
    `search="${secret} again"`,
    `search=${secret}&state=opened`,
    `labels=${label}`,
    `milestone=${title}`,
    `search=${secret}&confidential=true`,
    `search=${secret}&page=2&per_page=1`,
    `search=${secret}&order_by=updated_at&sort=asc`,
  ];
  for (const place of [
    '/issues?scope=all',
    `/groups/${group.id}/issues?scope=all`,
    `/projects/${project.id}/issues?scope=all`,
  ]) {
    for (const query of queries) {
      for (const user of [stranger, guest, external]) {
        const { body, headers } = await wire.send({
          method: 'GET',
          path: `/api/v4${place}&${encodeURI(query)}`,
          headers: { 'private-token': user.token },
        });
        assert.deepEqual(
          [body, headers['x-total'], headers['x-total-pages']],
          [[], '0', '1'],
          `${place}&${query}`,
        );
      }
    }
    const seen = await listAll(`${place}&search=${secret}`, root.token, 20);
    assert.deepEqual(
      seen.issues.map(({ id }) => id),
      [made.id],
    );
  }
  for (const [{ token }, due] of [
    [stranger, 0],
    [guest, 0],
    [root, 1],
  ] as const) {
    const counted = await must(`GET /projects/${project.id}/labels/${encodeURIComponent(label)}`, {
      as: token,
    });
    assert.equal(counted.open_issues_count, due);
  }
});

test('excludes hidden issues from the counts of projects and labels', async () => {
  const all = (await listAll('/issues?scope=all', root.token, 100)).issues;
  for (const user of everybody()) {
    for (const { id, visibility } of projects.filter((project) => canSee(user, project))) {
      const seen = all.filter((issue) => issue.project_id === id && sees(user, issue));
      const opened = seen.filter((issue) => issue.state === 'opened');
      const isHis = ({ author, assignees }: Issue): boolean =>
        [author, ...assignees].some((one) => one.id === user.id);
      // Own confidential issues do not count unless all do.
      const own =
        roleOf(user, id) >= 20 ? 0 : opened.filter((issue) => issue.confidential && isHis(issue)).length;
      const project = await must(`GET /projects/${id}`, { as: user.token });
      assert.equal(project.open_issues_count, opened.length - own, `${visibility} project as ${user.name}`);
      const shown = (await must(`GET /projects/${id}/labels?per_page=100`, { as: user.token })) as {
        name: string;
        open_issues_count: number;
        closed_issues_count: number;
      }[];
      for (const { name, open_issues_count, closed_issues_count } of shown) {
        const with_it = seen.filter((issue) => issue.labels.includes(name));
        const due = [
          with_it.filter((issue) => issue.state === 'opened').length,
          with_it.filter((issue) => issue.state === 'closed').length,
        ];
        assert.deepEqual([open_issues_count, closed_issues_count], due, `${name} as ${user.name}`);
      }
    }
  }
});
