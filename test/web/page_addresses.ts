/**
 * An address of every page, on an instance that `tools/seed` has filled and `seedRest` completed. A page without one
 * fails `every_page.test.ts`.
 */
import { makeEmailToken } from '../../src/identity/emails/confirm.ts';
import { makeLinkToken } from '../../src/identity/account_mails/links.ts';
import { makeInvitationToken } from '../../src/identity/invitations/links.ts';
import { insertRow } from '../../src/platform/db/insert.ts';
import { signLink } from '../../src/core/access/credentials/signed_links.ts';
import { pagePaths } from '../../src/doors/web/routes.ts';
import type { TestService } from '../support/service.ts';

const project = '/workshop/bridge';
const group = '/workshop';

/** Addresses of pages whose line has a parameter, or that need a query; null: not a page to look at. */
const ofProject: Record<string, string | null> = {
  'import/new': null, // leads to the project, which has code
  'tree/:rest': 'tree/main/src',
  'blob/:rest': 'blob/main/src/span.js',
  'blame/:rest': 'blame/main/src/span.js',
  'raw/:rest': null,
  'archive/:rest': null,
  'commits/:rest': 'commits/main/src',
  'tags/:path': 'tags/v1.0',
  'new/:rest': 'new/main/src',
  'new_folder/:rest': 'new_folder/main/src',
  'upload/:rest': 'upload/main/src',
  'edit/:rest': 'edit/main/src/span.js',
  'delete/:rest': 'delete/main/src/span.js',
  'commit/:id': 'commit/<commit>',
  'commit/:id/notes/:note/edit': 'commit/<commit>/notes/<commit note>/edit',
  'compare/:rest': 'compare/main...handrails',
  'find_file/:rest': 'find_file/main',
  'graphs/:rest': 'graphs/main',
  'releases.atom': null,
  'releases/permalink/latest': null,
  'releases/:tag': 'releases/v1.0',
  'releases/:tag/edit': 'releases/v1.0/edit',
  'activity.atom': null,
  'issues.atom': null,
  'issues.ics': null,
  'issues/export': null,
  'issues/:iid': 'issues/1',
  'issues/:iid/edit': 'issues/1/edit',
  'issues/:iid/award_emoji': 'issues/1/award_emoji',
  'issues/:iid/notes/:note/edit': 'issues/1/notes/<note>/edit',
  'issues/:iid/notes/:note/quote': 'issues/1/notes/<note>/quote',
  'merge_requests/export': null,
  'merge_requests.atom': null,
  'merge_requests/new': 'merge_requests/new?merge_request[source_branch]=handrails',
  'merge_requests/:iid': 'merge_requests/1',
  'merge_requests/:iid/edit': 'merge_requests/1/edit',
  'merge_requests/:iid/conflicts': null, // test/web/resolve_conflicts.test.ts
  'merge_requests/:iid/award_emoji': 'merge_requests/1/award_emoji',
  'merge_requests/:iid/notes/:note/edit': 'merge_requests/1/notes/<request note>/edit',
  'merge_requests/:iid/notes/:note/quote': 'merge_requests/1/notes/<request note>/quote',
  'merge_requests/:iid/commits': 'merge_requests/1/commits',
  'merge_requests/:iid/pipelines': 'merge_requests/1/pipelines',
  'merge_requests/:iid/versions': 'merge_requests/1/versions',
  'merge_requests/:iid/diffs': 'merge_requests/1/diffs',
  'merge_requests/:iid/diffs/threads': null,
  'snippets/:id': 'snippets/<snippet>',
  'snippets/:id/edit': 'snippets/<snippet>/edit',
  'snippets/:id/raw': null,
  'snippets/:id/raw/:ref/:path': null,
  'snippets/:iid/award_emoji': 'snippets/<snippet>/award_emoji',
  'snippets/:iid/notes/:note/edit': 'snippets/<snippet>/notes/<snippet note>/edit',
  'snippets/:iid/notes/:note/quote': 'snippets/<snippet>/notes/<snippet note>/quote',
  boards: null, // leads to the only one
  'boards/:id': 'boards/<board>',
  'boards/:id/edit': 'boards/<board>/edit',
  'boards/:id/issues/new': 'boards/<board>/issues/new?list=open',
  'labels/:id/edit': 'labels/1/edit',
  'milestones/:iid': 'milestones/1',
  'milestones/:iid/edit': 'milestones/1/edit',
  'pipelines/:id': 'pipelines/1',
  'pipelines/:id/test_report': 'pipelines/1/test_report',
  'jobs/:id': 'jobs/1',
  'jobs/:id/artifacts/browse': null, // test/web/artifacts.test.ts
  'jobs/:id/artifacts/browse/:path': null,
  'jobs/:id/artifacts/exposed': null,
  'pipeline_schedules/:id': 'pipeline_schedules/1',
  'environments/:id': 'environments/1',
  'settings/repository': null, // leads to protected branches
  'settings/integrations/:key': 'settings/integrations/redmine',
  'settings/badges/:id': 'settings/badges/<project badge>',
  'variables/:key': 'variables/KEY?scope=*',
  'runners/:id': 'runners/1',
  'hooks/:id': 'hooks/<project hook>',
  'hooks/:id/edit': 'hooks/<project hook>/edit',
  'hooks/:id/deliveries/:delivery': 'hooks/<project hook>/deliveries/<delivery>',
};

const ofGroup: Record<string, string | null> = {
  'issues/export': null,
  'merge_requests/export': null,
  'activity.atom': null,
  'issues.atom': null,
  'issues.ics': null,
  'merge_requests.atom': null,
  boards: null, // leads to the only one
  'boards/:id': 'boards/<group board>',
  'boards/:id/edit': 'boards/<group board>/edit',
  'boards/:id/issues/new': 'boards/<group board>/issues/new?list=open',
  'labels/:id/edit': 'labels/<group label>/edit',
  'milestones/:iid': 'milestones/1',
  'milestones/:iid/edit': 'milestones/1/edit',
  'settings/badges/:id': 'settings/badges/<group badge>',
  'variables/:key': 'variables/KEY?scope=*',
  'runners/:id': 'runners/1',
  'hooks/:id': 'hooks/<group hook>',
  'hooks/:id/edit': 'hooks/<group hook>/edit',
  'hooks/:id/deliveries/:delivery': null,
};

const ofInstance: Record<string, string | null> = {
  '/search': '/search?search=span&scope=blobs',
  '/-/projects/:project': project,
  '/-/groups/:group': `/groups${group}`,
  '/explore/projects/topics/:name': '/explore/projects/topics/bridges',
  '/-/namespaces/:name': '/ada',
  '/-/unsubscribe/:token': '/-/unsubscribe/<unsubscribe>',
  '/users/sign_in': null, // looked at without an account
  '/users/sign_up': null,
  '/users/password/edit': '/users/password/edit?token=<reset>',
  '/users/confirmation': '/users/confirmation?token=<confirm>',
  '/users/emails/confirmation': '/users/emails/confirmation?token=<confirm email>',
  '/users/invitation': '/users/invitation?token=<invitation>',
  '/admin/mail/:id': '/admin/mail/<mail>',
  '/dashboard/issues/export': null,
  '/dashboard/activity.atom': null,
  '/dashboard/issues.atom': null,
  '/dashboard/issues.ics': null,
  '/dashboard/merge_requests/export': null,
  '/dashboard/merge_requests.atom': null,
  '/-/completions': null,
  '/snippets': null, // leads to /-/snippets
  '/-/snippets/:id': null,
  '/snippets/:id': '/snippets/<own snippet>',
  '/snippets/:id/edit': '/snippets/<own snippet>/edit',
  '/snippets/:id/raw': null,
  '/snippets/:id/raw/:ref/:path': null,
  '/users/:name/activity': null, // leads to the profile
  '/users/:name/activity.atom': null,
  '/help/:topic': '/help/operations',
  '/robots.txt': null,
  '/favicon.ico': null,
  '/.well-known/security.txt': null,
  '/.well-known/change-password': null,
  '/oauth/authorize': null, // test/web/oauth.test.ts
  '/users/auth/:provider/callback': null,
  '/profile/identities': null, // only where a provider is configured
  '/admin/variables/:key': '/admin/variables/KEY?scope=*',
  '/admin/hooks/:id': '/admin/hooks/<system hook>',
  '/admin/hooks/:id/edit': '/admin/hooks/<system hook>/edit',
  '/admin/hooks/:id/deliveries/:delivery': null,
};

/** Addresses below these are of records with the id 1. */
const firstRecords = /^\/admin\/\w+\/:id(?:\/\w+)?$/;

/** Returns the address of a page; null: there is nothing to look at. */
const addressOf = (path: string): string | null => {
  const [, kind, below = ''] = /^\/-\/(projects\/:project|groups\/:group)\/(.*)$/.exec(path) ?? [];
  if (kind !== undefined) {
    const [known, base] = kind.startsWith('projects') ? [ofProject, project] : [ofGroup, `/groups${group}`];
    const address = known[below];
    return address === null ? null : `${base}/-/${address ?? below}`;
  }
  const address = ofInstance[path];
  if (address !== undefined) return address;
  return firstRecords.test(path) ? path.replace(':id', '1') : path;
};

/** Addresses of pages for visitors without an account. */
const withoutAccount = [
  '/users/sign_in',
  '/users/sign_up',
  '/explore',
  '/explore/groups',
  '/explore/projects/topics',
  '/explore/projects/topics/bridges',
  '/help',
  '/help/operations',
  '/-/jump?q=span',
  '/search?search=span',
  ...[
    'tree/main/src',
    'blob/main/src/span.js',
    'blame/main/src/span.js',
    'commits/main',
    'commit/<commit>',
    'branches',
    'tags',
    'tags/v1.0',
    'compare/main...handrails',
    'find_file/main',
    'graphs/main',
    'releases',
    'releases/v1.0',
    'issues',
    'issues/1',
    'merge_requests',
    'merge_requests/1',
    'merge_requests/1/diffs',
    'merge_requests/1/commits',
    'snippets',
    'snippets/<snippet>',
    'boards/<board>',
    'activity',
  ].map((below) => `${project}/-/${below}`),
  project,
  `/groups${group}`,
];

/** Ids of records, by the name that an address has between `<` and `>`. */
type Ids = Record<string, number | string>;

const withIds = (address: string, ids: Ids): string =>
  address.replaceAll(/<([^>]+)>/g, (_all, name: string) => String(ids[name]));

/** Lists addresses of pages to look at without an account. */
export const listSignedOutAddresses = (ids: Ids): string[] =>
  withoutAccount.map((address) => withIds(address, ids));

/** Lists `[line, address]` of every page to look at. @throws for a page with a parameter and no address */
export const listPageAddresses = (ids: Ids): [line: string, address: string][] =>
  pagePaths
    .flatMap(({ lines }) => lines)
    .filter((line) => line.startsWith('GET '))
    .flatMap((line): [string, string][] => {
      const address = addressOf(line.replace('GET ', ''));
      if (address === null) return [];
      if (address.includes(':')) throw new Error(`${line} has no address in page_addresses.ts`);
      return [[line, withIds(address, ids)]];
    });

/** A hook with all that its pages show; nothing answers at its URL. */
const hook = {
  url: 'https://hooks.invalid/{path}',
  name: 'Builds',
  token: 'x',
  custom_headers: [{ key: 'X-Key', value: 'x' }],
  url_variables: [{ key: 'path', value: 'x' }],
};

/** Creates what the pages of `addresses` show and the seed does not. */
export const seedRest = async (gantry: TestService): Promise<Ids> => {
  const send = async (line: string, json: object): Promise<{ id: number }> => {
    const { status, text, body } = await gantry.api(line, { json });
    if (status !== 201) throw new Error(`${line}: ${status} ${text}`);
    return body;
  };
  const path = `/projects/${encodeURIComponent(project.slice(1))}`;
  await send('POST /topics', { name: 'bridges', title: 'Bridges', description: 'Spans of all kinds' });
  const message = { message: 'Maintenance **tonight**', dismissable: true, ends_at: '2100-01-01T00:00:00Z' };
  await send('POST /broadcast_messages', message);
  await send(`POST ${path}/variables`, { key: 'KEY', value: 'x' });
  await send(`POST /groups${group}/variables`, { key: 'KEY', value: 'x' });
  await send('POST /admin/ci/variables', { key: 'KEY', value: 'x' });
  await send(`POST ${path}/pipeline_schedules`, { description: 'Nightly', ref: 'main', cron: '0 3 * * *' });
  await send(`POST ${path}/environments`, { name: 'production' });
  await send('POST /user/runners', { runner_type: 'instance_type', description: 'a runner' });
  const label = await send(`POST /groups${group}/labels`, { name: 'shared', color: '#336699' });
  await send(`POST /groups${group}/milestones`, { title: 'Opening' });
  const board = await send(`POST ${path}/boards`, { name: 'Work' });
  await send(`POST ${path}/boards/${board.id}/lists`, { label_id: label.id });
  const groupBoard = await send(`POST /groups${group}/boards`, { name: 'All' });
  const other = await send('POST /groups', { name: 'Neighbours', path: 'neighbours' });
  await send(`POST ${path}/share`, { group_id: other.id, group_access: 20, expires_at: '2100-01-01' });
  await send(`POST /groups${group}/share`, { group_id: other.id, group_access: 20 });
  await send(`POST ${path}/invitations`, { email: 'guest@example.org', access_level: 30 });
  const token = { name: 'Deploys', scopes: ['read_repository'] };
  for (const place of [path, `/groups${group}`]) {
    await send(`POST ${place}/access_tokens`, token);
    await send(`POST ${place}/deploy_tokens`, token);
  }
  const note = await send(`POST ${path}/issues/1/notes`, { body: 'A note' });
  await send(`POST ${path}/issues/1/notes`, { body: 'An internal note', internal: true });
  const requestNote = await send(`POST ${path}/merge_requests/1/notes`, { body: 'A note' });
  const files = {
    title: 'Span',
    visibility: 'public',
    files: [
      { file_path: 'span.js', content: 'const a = 1;' },
      { file_path: 'notes.md', content: '# Span' },
    ],
  };
  const snippet = await send(`POST ${path}/snippets`, files);
  const snippetNote = await send(`POST ${path}/snippets/${snippet.id}/notes`, { body: 'A note' });
  const own = await send('POST /snippets', files);
  const { platform } = gantry.service;
  await send('POST /user/emails', { email: 'further@example.org' });
  const further = await platform.store.db.selectFrom('emails').selectAll().executeTakeFirstOrThrow();
  const request = { user_id: 1, email_id: null, requested_at: platform.clock.now() };
  const made = await platform.store.write(
    async ({ db, now }) =>
      await insertRow(db, 'mails', {
        user_id: 1,
        kind: 'account.test',
        event_key: 'test-1',
        reason: 'requested',
        actor_id: null,
        target_type: null,
        target_id: null,
        note_id: null,
        state: 'sent',
        subject: 'Test mail',
        body: 'The mail settings work.',
        next_attempt_at: now,
        created_at: now,
        sent_at: now,
      }),
  );
  const invitation = await platform.store.db.selectFrom('invitations').selectAll().executeTakeFirstOrThrow();
  const { body: branch } = await gantry.api(`GET ${path}/repository/branches/main`);
  const thread = `${path}/repository/commits/${branch.commit.id}/discussions`;
  const { body: commitThread } = await gantry.api(`POST ${thread}`, { json: { body: 'A note' } });
  const badge = {
    name: 'Build',
    link_url: 'https://ci.invalid/',
    image_url: `${gantry.url}${project}/badges/main/pipeline.svg`,
  };
  const projectBadge = await send(`POST ${path}/badges`, badge);
  const groupBadge = await send(`POST /groups${group}/badges`, badge);
  const projectHook = await send(`POST ${path}/hooks`, hook);
  const groupHook = await send(`POST /groups${group}/hooks`, hook);
  const systemHook = await send('POST /hooks', hook);
  await gantry.api(`POST ${path}/hooks/${projectHook.id}/test/push_events`);
  const { body: deliveries } = await gantry.api(`GET ${path}/hooks/${projectHook.id}/events`);
  return {
    'project badge': projectBadge.id,
    'group badge': groupBadge.id,
    'project hook': projectHook.id,
    'group hook': groupHook.id,
    'system hook': systemHook.id,
    delivery: deliveries[0].id,
    'group label': label.id,
    board: board.id,
    'group board': groupBoard.id,
    note: note.id,
    'request note': requestNote.id,
    snippet: snippet.id,
    'snippet note': snippetNote.id,
    'own snippet': own.id,
    commit: branch.commit.id,
    'commit note': commitThread.notes[0].id,
    mail: made,
    reset: (await makeLinkToken(platform, 'password_reset', request))?.token ?? '',
    'confirm email': makeEmailToken(platform, further),
    confirm: (await makeLinkToken(platform, 'confirm_address', request))?.token ?? '',
    invitation: makeInvitationToken(platform, invitation),
    unsubscribe: signLink(platform.secrets.session_key, 'unsubscribe', '1-Issue-1'),
  };
};
