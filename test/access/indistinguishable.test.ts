/** Hidden records are answered byte for byte like missing ones. */
import { after, before, test } from 'node:test';
import { unique } from '../support/seed.ts';
import { isDrawn, isWhole, oneOfSoMany } from '../support/run/sample.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';
import { type Row, rows } from './expected.ts';
import type { Person } from './people.ts';
import { pathOf, recipes } from './recipes/recipes.ts';
import { insertLabels, insertMilestones, insertTodos } from './makers/bulk_rows.ts';
import {
  type Received,
  type Sent,
  type Wire,
  failWith,
  forEachAtOnce,
  openWire,
} from './pipelined_requests.ts';
import { type Names, type Place, type World, makeGroupPlace, makePlace, makeWorld } from './world.ts';

let gantry: TestService;
let world: World;
let wire: Wire;
before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' });
  world = await makeWorld(gantry);
  wire = openWire(gantry.url);
});
after(async () => {
  wire.close();
  await gantry.close();
});

/** An id without a record. */
const nothing = 999_999_999;

type Pair = { person: Person; hidden: Sent; missing: Sent };

/** Headers that differ between any two requests. */
const unsteady = new Set(['date', 'x-request-id', 'x-runtime', 'etag']);

/** Returns a response as one text; `echo` is a value that only links repeat. */
const whole = ({ status, rawHeaders, text }: Received, echo: string): string => {
  const steady = rawHeaders.filter(([name]) => !unsteady.has(name.toLowerCase()));
  const repeated = new RegExp(`=${echo}(?=[&>])`, 'g');
  const headers = steady.map(
    ([name, value]) => `${name}: ${echo === '' ? value : value.replaceAll(repeated, '=<echo>')}`,
  );
  return [status, ...headers, '', text].join('\n');
};

/** On PostgreSQL one pair in so many is compared, as in the matrix. */
const share = engine === 'postgres' ? 4 : 1;
/** `npm test` compares one pair in so many, and at least one of each path of so many. */
const fastShare = 16 * share;
const pathShare = 3;

const groupOf = ({ hidden: { method, path } }: Pair): string =>
  isDrawn(`${method} ${path}`, pathShare) ? `${method} ${path}` : '';

const compare = async (all: Pair[], echoes: [string, string] = ['', '']): Promise<void> => {
  const pairs = oneOfSoMany(all, isWhole ? share : fastShare, (_pair, at) => String(at), groupOf);
  const wrong: string[] = [];
  await forEachAtOnce(pairs, async ({ person, hidden, missing }) => {
    const one = await wire.send({ ...hidden, headers: { ...person.headers, ...hidden.headers } });
    const other = await wire.send({ ...missing, headers: { ...person.headers, ...missing.headers } });
    const [told, due] = [whole(one, echoes[0]), whole(other, echoes[1])];
    if (told === due && one.status < 500) return;
    wrong.push(
      `${hidden.method} ${hidden.path} | ${person.name}\n${told}\n  differs from ${missing.path}\n${due}\n`,
    );
  });
  if (pairs.length === 0) throw new Error('nothing was compared');
  failWith(wrong, pairs.length);
};

const named = (...names: string[]): Person[] =>
  names.map((name) => {
    const person = world.people.all.get(name);
    if (person === undefined) throw new Error(`nobody is called ${name}`);
    return person;
  });

/** People who cannot see a private project or group. */
const outsiders = [
  'non-member',
  'anonymous',
  'external',
  'author',
  'assignee',
  'former master',
  'admin as non-member',
];
const insiders = [
  'guest',
  'guest and author',
  'reporter',
  'developer',
  'master',
  'owner',
  'admin',
  'external reporter',
];

const below = (path: string): Row[] =>
  rows.filter((row) => row.path === path || row.path.startsWith(`${path}/`));

/** Placeholders for what the matrix would create for each request. */
const substitutes = {
  label: 'Marker',
  issue_iid: 1,
  merge_request_iid: 1,
  note_id: nothing,
  issue_award: nothing,
  note_award: nothing,
  discussion_id: '0'.repeat(40),
  slug: 'redmine',
  key: 'KEY',
  tag_name: 'v1',
  link_id: nothing,
  version_id: nothing,
  draft_note_id: nothing,
  suggestion: nothing,
  issue_id: nothing,
  merge_request_id: nothing,
  resource_event_id: nothing,
  name: 'main',
  other_sha: '0'.repeat(40),
  blob_id: '0'.repeat(40),
  file_path: 'README.md',
  format: 'zip',
  todo: nothing,
  repository_storage_move_id: nothing,
  storage_move: nothing,
  token: nothing,
  impersonation_token_id: nothing,
  token_id: nothing,
  group_id: nothing,
  board_id: nothing,
  list_id: nothing,
  user: nothing,
  key_id: nothing,
  email: 'nobody@example.com',
  snippet_id: nothing,
  snippet_ref: 'main',
  snippet_file: 'a.txt',
  secret: '0123456789abcdef'.repeat(2),
  filename: 'a.txt',
  job_id: nothing,
  pipeline_id: nothing,
  pipeline_schedule_id: nothing,
  trigger_id: nothing,
  hook_id: nothing,
  event_id: nothing,
  trigger: 'issues_events',
  badge_id: nothing,
  issue_link_id: nothing,
  environment_id: nothing,
  ref_of_job: 'main',
  environment_name: 'x',
  deployment_id: nothing,
  runner_id: nothing,
  target_project_id: nothing,
  target_group_id: nothing,
  token_text: 'x',
  ref_name: 'main',
  artifact_path: 'a.txt',
  file_in_archive: 'a.txt',
};

const sentFor = (row: Row, place: Place, names: Names, body?: object): Sent => {
  const cell = { row, place, names, person: named('owner')[0] as Person, state: 'plain' as const };
  const usual = recipes[row.name]?.body?.(names, cell);
  return {
    method: row.method,
    path: `/api/v4${pathOf(cell)}`,
    body: row.method === 'GET' ? undefined : (body ?? usual),
  };
};

const badBodies = [
  {},
  { title: [], name: {}, body: 7, duration: {}, user_id: 'x', visibility: 'x', color: [] },
];

/**
 * Compares the same request on a hidden and on a missing record. The first of the people also sends invalid bodies:
 * the responses do not depend on the sender.
 */
const pairsOf = (of: Row[], people: Person[], place: Place, hidden: Names, missing: Names): Pair[] => {
  const all = { ...substitutes, ...place.names };
  return of.flatMap((row) =>
    people.flatMap((person, at) => {
      const bodies =
        at === 0 && ['POST', 'PUT'].includes(row.method) ? [undefined, ...badBodies] : [undefined];
      return bodies.map((body) => ({
        person,
        hidden: sentFor(row, place, { ...all, ...hidden }, body),
        missing: sentFor(row, place, { ...all, ...missing }, body),
      }));
    }),
  );
};

const usualIssue = (place: Place, state: 'plain' | 'confidential' | 'deleted'): Names =>
  place.issues.get(state)?.usual ?? {};

const usualRequest = (place: Place, state: 'plain' | 'deleted'): Names =>
  place.requests.get(state)?.usual ?? {};

const pathOfProject = async (id: number): Promise<string> => {
  const query = gantry.service.platform.store.db
    .selectFrom('projects')
    .select('full_path')
    .where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).full_path;
};

const pathOfGroup = async (id: number): Promise<string> => {
  const query = gantry.service.platform.store.db
    .selectFrom('namespaces')
    .select('full_path')
    .where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).full_path;
};

test('hides a private project, by its id and by its path', async () => {
  const place = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const { project = 0 } = place.names;
  const issue = usualIssue(place, 'plain');
  const path = await pathOfProject(Number(project));
  const of = below('/projects/:id');
  const people = named(...outsiders);
  await compare([
    ...pairsOf(of, people, place, { ...issue, project }, { ...issue, project: nothing }),
    ...pairsOf(of, people, place, { ...issue, project: path }, { ...issue, project: unique('no/project') }),
    ...pairsOf(
      of,
      people,
      place,
      { ...issue, project: path.toUpperCase() },
      { ...issue, project: unique('no/project') },
    ),
  ]);
});

test('hides an internal project from external and anonymous users', async () => {
  const place = await makePlace(world, { visibility: 'internal', issues: 'enabled' });
  const issue = usualIssue(place, 'plain');
  await compare(
    pairsOf(below('/projects/:id'), named('external', 'anonymous'), place, issue, {
      ...issue,
      project: nothing,
    }),
  );
});

test('hides a deleted project or group from everyone', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const group = await makeGroupPlace(world, 'public');
  const issue = usualIssue(place, 'plain');
  const path = await pathOfProject(Number(place.names['project']));
  const groupPath = await pathOfGroup(Number(group.names['group']));
  // Deleted through the API; background work removes the rest.
  await gantry.api(`DELETE /projects/${place.names['project']}`);
  await gantry.api(`DELETE /groups/${group.names['group']}`);
  const people = named(...outsiders, ...insiders);
  await compare([
    ...pairsOf(below('/projects/:id'), people, place, issue, { ...issue, project: nothing }),
    ...pairsOf(
      below('/projects/:id'),
      named('owner'),
      place,
      { ...issue, project: path },
      { ...issue, project: 'no/project' },
    ),
    ...pairsOf(below('/groups/:id'), people, group, {}, { group: nothing }),
    ...pairsOf(below('/groups/:id'), named('owner'), group, { group: groupPath }, { group: 'no-group' }),
  ]);
});

test('hides a private group, by its id and by its path', async () => {
  const place = await makeGroupPlace(world, 'private');
  const path = await pathOfGroup(Number(place.names['group']));
  const of = [...below('/groups/:id'), ...below('/namespaces/:id')];
  const people = named(...outsiders);
  await compare([
    ...pairsOf(of, people, place, {}, { group: nothing }),
    ...pairsOf(of, people, place, { group: path }, { group: unique('no/group') }),
  ]);
});

test('hides a namespace without a role, even of a public group', async () => {
  const place = await makeGroupPlace(world, 'public');
  const { host = 0 } = (await makePlace(world, { visibility: 'public', issues: 'enabled' })).names;
  const { db } = gantry.service.platform.store;
  const personal = await db
    .selectFrom('namespaces')
    .select('id')
    .where('owner_id', '=', Number(host))
    .executeTakeFirstOrThrow();
  const people = named(...outsiders, 'member of a project below');
  await compare([
    ...pairsOf(below('/namespaces/:id'), people, place, {}, { group: nothing }),
    ...pairsOf(below('/namespaces/:id'), people, place, { group: personal.id }, { group: nothing }),
  ]);
});

const ofIssue = '/projects/:id/issues/:issue_iid';

test('hides a confidential issue', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const usual = usualIssue(place, 'confidential');
  // Its author is another guest, and it has no assignees.
  const other = place.issues.get('confidential')?.of_guest ?? {};
  const strangers = ['external', 'non-member', 'guest', 'former master', 'admin as non-member'];
  const of = below(ofIssue);
  const missing = (names: Names): Names => ({ ...names, issue_iid: nothing });
  await compare([
    ...pairsOf(of, named(...strangers, 'guest and author'), place, usual, missing(usual)),
    ...pairsOf(
      of,
      named(...strangers, 'author', 'assignee', 'guest and assignee'),
      place,
      other,
      missing(other),
    ),
  ]);
});

test('hides a deleted issue, and issues of a project that disabled them', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const deleted = usualIssue(place, 'deleted');
  const people = named(...outsiders, ...insiders);
  const off = await makePlace(world, { visibility: 'public', issues: 'disabled' });
  const members = await makePlace(world, { visibility: 'public', issues: 'private' });
  const [inOff, inMembers] = [usualIssue(off, 'plain'), usualIssue(members, 'plain')];
  await compare([
    ...pairsOf(below(ofIssue), people, place, deleted, { ...deleted, issue_iid: nothing }),
    ...pairsOf(below(ofIssue), people, off, inOff, { ...inOff, issue_iid: nothing }),
    ...pairsOf(below(ofIssue), named(...outsiders), members, inMembers, { ...inMembers, issue_iid: nothing }),
  ]);
});

const ofRequest = '/projects/:id/merge_requests/:merge_request_iid';

test('hides a deleted merge request, and those of a project that disabled them', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const deleted = usualRequest(place, 'deleted');
  const people = named(...outsiders, ...insiders);
  const off = await makePlace(world, { visibility: 'public', issues: 'disabled' });
  const members = await makePlace(world, { visibility: 'public', issues: 'enabled', code: 'private' });
  const [inOff, inMembers] = [usualRequest(off, 'plain'), usualRequest(members, 'plain')];
  const missing = (names: Names): Names => ({ ...names, merge_request_iid: nothing });
  await compare([
    ...pairsOf(below(ofRequest), people, place, deleted, missing(deleted)),
    ...pairsOf(below(ofRequest), people, off, inOff, missing(inOff)),
    ...pairsOf(below(ofRequest), named(...outsiders), members, inMembers, missing(inMembers)),
  ]);
});

test('hides a note, award, label or milestone of another record', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const secret = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const group = await makeGroupPlace(world, 'public');
  const secretGroup = await makeGroupPlace(world, 'private');
  const own = usualIssue(place, 'plain');
  const people = named(...outsiders, ...insiders);
  const hiding = [
    usualIssue(place, 'confidential'),
    usualIssue(secret, 'plain'),
    usualRequest(place, 'deleted'),
    usualRequest(secret, 'plain'),
    place.issues.get('plain')?.of_guest ?? {},
  ];
  const at = (param: string): Row[] =>
    rows.filter(({ path }) => path.includes(`/:${param}`) && path.startsWith('/projects/'));
  const inGroup = (param: string): Row[] =>
    rows.filter(({ path }) => path.includes(`/:${param}`) && path.startsWith('/groups/'));
  const ofNotes = at('award_id').filter(({ path }) => path.includes('/notes/'));
  const pairs = hiding.flatMap((hidden) => [
    ...pairsOf(
      at('note_id'),
      people,
      place,
      { ...own, note_id: hidden['note_id'] ?? 0 },
      { ...own, note_id: nothing },
    ),
    ...pairsOf(
      at('award_id'),
      people,
      place,
      { ...own, issue_award: hidden['issue_award'] ?? 0 },
      { ...own, issue_award: nothing },
    ).filter(({ hidden: { path } }) => !path.includes('/notes/')),
    ...pairsOf(
      ofNotes,
      people,
      place,
      { ...own, note_award: hidden['note_award'] ?? 0 },
      { ...own, note_award: nothing },
    ),
  ]);
  // An award of the note through the issue, and one of the issue through the note.
  const crossed = pairsOf(
    ofNotes,
    people,
    place,
    { ...own, note_award: own['issue_award'] ?? 0 },
    { ...own, note_award: nothing },
  );
  const { label_id = 0, milestone_id = 0 } = secret.names;
  await compare([
    ...pairs,
    ...crossed,
    ...pairsOf(at('label_id'), people, place, { label_id }, { label_id: nothing }),
    ...pairsOf(at('milestone_id'), people, place, { milestone_id }, { milestone_id: nothing }),
    ...pairsOf(
      at('label_id'),
      people,
      place,
      { label_id: group.names['label_id'] ?? 0 },
      { label_id: nothing },
    ),
    ...pairsOf(
      inGroup('label_id'),
      people,
      group,
      { label_id: secretGroup.names['label_id'] ?? 0 },
      { label_id: nothing },
    ),
    ...pairsOf(inGroup('label_id'), people, group, { label_id }, { label_id: nothing }),
    ...pairsOf(
      inGroup('milestone_id'),
      people,
      group,
      { milestone_id: secretGroup.names['milestone_id'] ?? 0 },
      { milestone_id: nothing },
    ),
    ...pairsOf(inGroup('milestone_id'), people, group, { milestone_id }, { milestone_id: nothing }),
  ]);
});

test('hides a label by the title that another project gave it', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const secret = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const title = unique('secret');
  await gantry.service.platform.store.write(
    async (tx) =>
      await insertLabels(tx, [{ project_id: Number(secret.names['project']), group_id: null, title }]),
  );
  const of = rows.filter(({ path }) => path.startsWith('/projects/:id/labels'));
  const byName = of.filter(({ name }) => /^(PUT|DELETE) \/projects\/:id\/labels(\/promote)?$/.test(name));
  const people = named(...outsiders, ...insiders);
  await compare([
    ...pairsOf(of, people, place, { label_id: title }, { label_id: unique('secret') }).filter(({ hidden }) =>
      hidden.path.includes(title),
    ),
    ...pairsOf(byName, people, place, { label: title }, { label: unique('secret') }),
  ]);
});

test('hides tokens and todos of other users', async () => {
  const place = await makePlace(world, { visibility: 'public', issues: 'enabled' });
  const { project = 0 } = place.names;
  const { issue_id: target_id = 0 } = usualIssue(place, 'plain');
  const { writer, newcomer } = world.people;
  const { db, write } = gantry.service.platform.store;
  const [todo = 0] = await write(
    async (tx) =>
      await insertTodos(tx, [
        { user_id: newcomer, author_id: writer, project_id: Number(project), target_id: Number(target_id) },
      ]),
  );
  const { id: token } = await db
    .selectFrom('tokens')
    .select('id')
    .where('user_id', '=', writer)
    .executeTakeFirstOrThrow();
  const users = named(...outsiders, ...insiders).filter(({ name }) => name !== 'admin');
  await compare([
    ...pairsOf(below('/personal_access_tokens/:id'), users, place, { token }, { token: nothing }),
    ...pairsOf(below('/todos/:id'), named(...outsiders, ...insiders), place, { todo }, { todo: nothing }),
  ]);
});

test('hides users without a public project from anonymous callers', async () => {
  const place = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const { db } = gantry.service.platform.store;
  const { host = 0 } = place.names;
  const { username } = await db
    .selectFrom('users')
    .select('username')
    .where('id', '=', Number(host))
    .executeTakeFirstOrThrow();
  const of = below('/users/:user_id/projects');
  await compare([
    ...pairsOf(of, named('anonymous'), place, { host }, { host: nothing }),
    ...pairsOf(of, named('anonymous'), place, { host: username }, { host: unique('nobody') }),
  ]);
});

test('hides a private group as the parent of a new record', async () => {
  const place = await makeGroupPlace(world, 'private');
  const group = Number(place.names['group']);
  const pairs = named(...outsiders).flatMap((person) =>
    [nothing, group].flatMap((hidden) => {
      const path = unique('made');
      const ask = (where: string, body: object): Sent => ({
        method: 'POST',
        path: `/api/v4${where}`,
        body: { ...body, name: path, path },
      });
      return hidden === nothing
        ? []
        : [
            {
              person,
              hidden: ask('/projects', { namespace_id: group }),
              missing: ask('/projects', { namespace_id: nothing }),
            },
            {
              person,
              hidden: ask('/groups', { parent_id: group }),
              missing: ask('/groups', { parent_id: nothing }),
            },
          ];
    }),
  );
  await compare(pairs);
});

test('hides records behind unknown methods and suffixes', async () => {
  const place = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const { issue_iid = 0 } = usualIssue(place, 'plain');
  const forms = (id: number | string): Sent[] => {
    const project = `/api/v4/projects/${encodeURIComponent(id)}`;
    const asked = [
      project,
      `${project}.json`,
      `${project}.rss`,
      `${project}/issues`,
      `${project}/issues.json`,
      `${project}/issues/${issue_iid}`,
      `${project}/issues/${issue_iid}.json`,
      `${project}/`,
      `${project}/no/such`,
      `/api/v4//projects//${encodeURIComponent(id)}`,
    ];
    return asked.flatMap((path) =>
      ['GET', 'HEAD', 'OPTIONS', 'PATCH', 'DELETE'].map((method) => ({ method, path })),
    );
  };
  const path = await pathOfProject(Number(place.names['project']));
  const pairsBetween = (hidden: number | string, missing: number | string): Pair[] =>
    named(...outsiders).flatMap((person) => {
      const others = forms(missing);
      return forms(hidden).flatMap((sent, at) =>
        others[at] === undefined ? [] : [{ person, hidden: sent, missing: others[at] }],
      );
    });
  await compare([
    ...pairsBetween(Number(place.names['project']), nothing),
    ...pairsBetween(path, 'no/project'),
  ]);
});

test('hides records named by list filters', async () => {
  const place = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const { store } = gantry.service.platform;
  const project_id = Number(place.names['project']);
  const owner = { project_id, group_id: null };
  const [word, other] = [unique('secret'), unique('secret')];
  await store.write(async (tx) => {
    await insertLabels(tx, [{ ...owner, title: word }]);
    const [id = 0] = await insertMilestones(tx, [{ ...owner, iid: 77 }]);
    await tx.db.updateTable('milestones').set({ title: word }).where('id', '=', id).execute();
  });
  const made = await gantry.api(`POST /projects/${project_id}/issues`, {
    json: { title: word, labels: word },
  });
  const iid = 424_242;
  await store.write(
    async ({ db }) => await db.updateTable('issues').set({ iid }).where('id', '=', made.body.id).execute(),
  );
  const lists = [
    '/issues?scope=all',
    '/projects?simple=true',
    '/groups?all_available=true',
    '/namespaces?x=y',
    `/groups/${world.top.id}/issues?x=y`,
    `/groups/${world.top.id}/projects?include_subgroups=true`,
  ];
  const filters = ['search=', 'labels=', 'milestone='];
  const people = named(...outsiders);
  const asked = lists.flatMap((list) => filters.map((filter) => `/api/v4${list}&${filter}`));
  const pairs = asked.flatMap((path) =>
    people.map((person) => ({
      person,
      hidden: { method: 'GET', path: path + word },
      missing: { method: 'GET', path: path + other },
    })),
  );
  await compare(pairs, [word, other]);
  const ids = [`todos?project_id=`, `issues?scope=all&iids[]=`].map((path) => `/api/v4/${path}`);
  const values: [number, number][] = [
    [project_id, nothing],
    [iid, nothing],
  ];
  for (const [at, path] of ids.entries()) {
    const [hidden = 0, missing = 0] = values[at] ?? [];
    const both = people.map((person) => ({
      person,
      hidden: { method: 'GET', path: `${path}${hidden}` },
      missing: { method: 'GET', path: `${path}${missing}` },
    }));
    await compare(both, [String(hidden), String(missing)]);
  }
});
