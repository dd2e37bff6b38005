/**
 * Pages of hidden records answer byte for byte what those of missing ones answer, to users without access and to
 * anonymous visitors. The lists of pages say which there are: one with a parameter that nothing here asks fails.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { canonicalPath } from '../../src/doors/web/request/project_paths.ts';
import { pagePaths } from '../../src/doors/web/routes.ts';
import { seedPipeline } from '../support/ci/jobs.ts';
import { isDrawn, isWhole } from '../support/run/sample.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedGroup } from '../support/seed.ts';
import { openRequest, seedBranch, seedCoded } from '../support/seed_merge_requests.ts';
import { seedVisitor } from '../support/seed_visitor.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Seen, type Visitor, openVisitor } from '../support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
/** A private project, whose records have the ids and names that `valueOf` has. */
let project: { id: number; full_path: string };
/** A public project with hidden records, all the first of their kind in it. */
let open: { id: number; full_path: string };
let people: Record<'stranger' | 'anonymous', () => Visitor>;
let hiddenUser: string;
const ids: Record<'snippet' | 'pipeline' | 'job' | 'own snippet' | 'hook', number> = {
  snippet: 0,
  pipeline: 0,
  job: 0,
  'own snippet': 0,
  hook: 0,
};

const nothing = 999_999_999;

const send = async (line: string, json: object = {}) => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

const file = 'x: { stage: test, script: x }';

/** Creates the first record of each kind. */
const fillProject = async (id: number): Promise<void> => {
  const path = `/projects/${id}`;
  const place = { id };
  await seedCommit(gantry, id, { x: 'x', '.gitlab-ci.yml': file });
  await seedBranch(gantry, place, 'x');
  await send(`POST ${path}/issues`, { title: 'Hidden', confidential: true });
  await send(`POST ${path}/issues/1/notes`, { body: 'Hidden' });
  await openRequest(gantry, place, 'x');
  await send(`POST ${path}/labels`, { name: 'x', color: '#336699' });
  await send(`POST ${path}/milestones`, { title: 'x' });
  await send(`POST ${path}/boards`, { name: 'x' });
  await send(`POST ${path}/variables`, { key: 'x', value: 'x' });
  await send(`POST ${path}/environments`, { name: 'x' });
  await send(`POST ${path}/pipeline_schedules`, { description: 'x', ref: 'main', cron: '0 3 * * *' });
  await send(`POST ${path}/repository/tags`, { tag_name: 'x', ref: 'main' });
  await send(`POST ${path}/releases`, { tag_name: 'x', description: 'x' });
};

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedCoded(gantry, { namespace: group.id, visibility: 'private' });
  open = await seedCoded(gantry, { visibility: 'public' });
  await fillProject(project.id);
  await fillProject(open.id);
  await send(`POST /groups/${group.id}/labels`, { name: 'y', color: '#336699' });
  await send(`POST /groups/${group.id}/milestones`, { title: 'y' });
  await send(`POST /groups/${group.id}/variables`, { key: 'x', value: 'x' });
  const title = { title: 'x', visibility: 'private', files: [{ file_path: 'x', content: 'x' }] };
  ids.snippet = (await send(`POST /projects/${open.id}/snippets`, title)).id;
  ids['own snippet'] = (await send('POST /snippets', title)).id;
  ids.hook = (await send(`POST /projects/${open.id}/hooks`, { url: 'https://hooks.invalid' })).id;
  await seedPipeline(gantry, { project: project.id, file });
  const pipeline = await seedPipeline(gantry, { project: open.id, file });
  [ids.pipeline, ids.job] = [pipeline.id, pipeline.jobs['x'] ?? 0];
  await send(`PUT /projects/${open.id}`, { merge_requests_access_level: 'private', public_builds: false });
  await seedVisitor(gantry); // the first session is that of somebody else
  const { visitor: stranger } = await seedVisitor(gantry);
  ({ full_path: hiddenUser } = group);
  people = { stranger: () => stranger, anonymous: () => openVisitor(gantry) };
});
after(async () => await gantry.close());

type Line = { line: string; method: string; path: string };

const lines: Line[] = pagePaths
  .flatMap((entry) => entry.lines)
  .map((line) => {
    const [method = '', path = ''] = line.split(' ');
    return { line, method, path };
  });

/** Values of further parameters of a path, and of its query. */
const valueOf = (path: string): string =>
  path
    .replaceAll(/:(?:i?id|note|discussion|draft|delivery|link|list_id)\b/g, '1')
    .replaceAll(/:(?:path|rest|tag|ref)\b/g, 'x')
    .replace(/:key(.*)$/, 'x$1?scope=*');

/** More fields than any form needs: authorization comes before validation. */
const form = {
  ref: 'main',
  key: 'x',
  scope: '*',
  title: 'x',
  name: 'x',
  level: 'watch',
  list: 'open',
  url: 'https://a.example',
};

/** Headers that differ between any two responses. */
const unsteady = new Set(['date', 'x-request-id', 'x-runtime', 'etag']);

/** Returns a response as one text. @param path what only the address of the sign-in repeats */
const whole = ({ status, headers, text }: Seen, path: string): string => {
  const back = encodeURIComponent(path);
  const steady = [...headers].filter(([name]) => !unsteady.has(name));
  const shown = steady.map(
    ([name, value]) => `${name}: ${value.replace(`return_to=${back}`, 'return_to=<path>')}`,
  );
  return [status, ...shown, '', text].join('\n');
};

const ask = async (who: Visitor, method: string, path: string): Promise<string> =>
  whole(method === 'GET' ? await who.get(path) : await who.post(path, form), path);

/** Pages that `compare` was given. */
const asked = new Set<string>();
/** `npm test` asks one page in so many. */
const share = 6;

type Pair = { hidden: string; missing: string };

const compare = async (pairOf: (line: Line) => Pair | null): Promise<void> => {
  let count = 0;
  for (const line of lines) {
    const pair = pairOf(line);
    if (pair === null) continue;
    asked.add(line.line);
    if (!isWhole && !isDrawn(line.line, share)) continue;
    count += 1;
    for (const [name, who] of Object.entries(people)) {
      const hidden = await ask(who(), line.method, pair.hidden);
      const missing = await ask(who(), line.method, pair.missing);
      assert.equal(hidden, missing, `${line.line} for the ${name}`);
      assert.doesNotMatch(hidden, /^[25]/, `${line.line} for the ${name}`);
    }
  }
  assert.ok(count > 0, 'nothing was compared');
};

const projectPrefix = '/-/projects/:project';
const groupPrefix = '/-/groups/:group';

const inProject = (path: string, of: string): string =>
  canonicalPath(valueOf(path.replace(projectPrefix, path === projectPrefix ? `/${of}` : `/${of}/-`)));

test('every page of a hidden project answers as that of a missing one', async () => {
  await compare(({ path }) =>
    path.startsWith(projectPrefix)
      ? { hidden: inProject(path, project.full_path), missing: inProject(path, 'no-such/project') }
      : null,
  );
});

test('every page of a hidden group answers as that of a missing one', async () => {
  const below = (path: string, of: string): string =>
    canonicalPath(
      valueOf(path.replace(groupPrefix, path === groupPrefix ? `/groups/${of}` : `/groups/${of}/-`)),
    );
  await compare(({ path }) =>
    path.startsWith(groupPrefix)
      ? { hidden: below(path, group.full_path), missing: below(path, 'no-such') }
      : null,
  );
});

/** Hidden records of a project that everybody sees, by the start of their pages: their ids. */
const hiddenRecords: Record<string, () => number> = {
  '/issues/:iid': () => 1,
  '/merge_requests/:iid': () => 1,
  '/snippets/:id': () => ids.snippet,
  '/snippets/:iid': () => ids.snippet,
  '/pipelines/:id': () => ids.pipeline,
  '/jobs/:id': () => ids.job,
  '/hooks/:id': () => ids.hook,
};

test('pages of confidential issues, hidden merge requests and the like answer as those of missing ones', async () => {
  await compare(({ path }) => {
    if (!path.startsWith(`${projectPrefix}/`)) return null;
    const start = Object.keys(hiddenRecords).find((one) => {
      const rest = path.slice(projectPrefix.length);
      return rest === one || rest.startsWith(`${one}/`);
    });
    if (start === undefined) return null;
    const withId = (id: number): string =>
      inProject(path.replace(start, start.replace(/:i?id/, String(id))), open.full_path);
    return { hidden: withId(hiddenRecords[start]?.() ?? 0), missing: withId(nothing) };
  });
});

/** Pages of the instance whose records others than their owner or administrators do not see: a hidden value. */
const hiddenOfInstance: [start: string, value: () => string][] = [
  ['/admin/variables/:key', () => 'x'],
  ['/admin/', () => '1'],
  ['/snippets/:id', () => String(ids['own snippet'])],
  ['/dashboard/todos/:id', () => '1'],
  ['/profile/notifications/projects/:id', () => String(project.id)],
  ['/profile/notifications/groups/:id', () => String(group.id)],
  ['/profile/', () => '1'],
  ['/-/saved_views/:id', () => '1'],
  ['/-/namespaces/:name', () => hiddenUser],
];

/** Pages with a parameter that names nothing hidden. */
const ofNothingHidden = new Set([
  'GET /explore/projects/topics/:name', // topics are public
  'GET /help/:topic',
  'GET /-/snippets/:id', // leads to /snippets/:id, whether there is one or not
  'GET /-/unsubscribe/:token', // a signed token
  'POST /-/unsubscribe/:token',
  'GET /users/:name/activity', // users are public
  'GET /users/:name/activity.atom',
  'POST /users/auth/:provider', // the sign-in page lists providers
  'GET /users/auth/:provider/callback',
  'POST /profile/identities/:provider/unlink',
  'POST /-/broadcast_messages/:id/dismiss', // keeps a cookie, whether the message exists or not
]);

test('pages of the instance about records of others answer as those of missing ones', async () => {
  await compare(({ line, path }) => {
    if (!path.includes(':') || path.startsWith(projectPrefix) || path.startsWith(groupPrefix)) return null;
    if (ofNothingHidden.has(line)) return null;
    const value = hiddenOfInstance.find(([start]) => path.startsWith(start))?.[1];
    if (value === undefined) return null;
    const withValue = (one: string): string => valueOf(path.replace(/:\w+/, one));
    return {
      hidden: withValue(value()),
      missing: withValue(path.includes(':id') ? String(nothing) : 'no-such'),
    };
  });
});

test('every page with a parameter was asked, or names nothing hidden', () => {
  const left = lines
    .filter(({ path }) => path.includes(':'))
    .map(({ line }) => line)
    .filter((line) => !asked.has(line) && !ofNothingHidden.has(line));
  assert.deepEqual(left, []);
});
