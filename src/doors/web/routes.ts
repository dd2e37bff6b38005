/** Lists every page and the module that contains it. Modules are loaded at the first request for one of their pages. */
import { maxCommitBytes } from '../../code/repository/limits.ts';
import { accountLinkLines, profileLines } from './account_page_lines.ts';
import { hookLines } from './hook_pages.ts';
import { groupNouns } from './group_pages.ts';
import { type Load, activityPages, groupPages, homePages, hookPages, projectPages } from './page_modules.ts';
import { groupRoot, projectRoot, routeLines } from './project_and_group_pages.ts';
import { projectNouns } from './project_pages.ts';

export type PagePath = {
  /** `GET /users/sign_in` */
  lines: readonly string[];
  load: Load;
  /** The page of a user, group or project itself, whose address could be any path. */
  isOfPlace?: true;
};

export const pagePaths: PagePath[] = [
  {
    lines: [
      'GET /',
      'GET /explore',
      'GET /dashboard/issues',
      'GET /dashboard/issues/export',
      'GET /dashboard/issues/new',
      'GET /dashboard/issues.atom',
      'GET /dashboard/issues.ics',
      'GET /dashboard/merge_requests',
      'GET /dashboard/merge_requests/export',
      'GET /dashboard/merge_requests/new',
      'GET /dashboard/merge_requests.atom',
      'GET /dashboard/projects',
      'GET /dashboard/starred',
      'GET /dashboard/todos',
      'POST /dashboard/todos/done_all',
      'POST /dashboard/todos/:id/done',
      'POST /dashboard/todos/:id/undo',
    ],
    load: async () => (await import('./pages/dashboard/pages.ts')).pages,
  },
  {
    lines: ['GET /explore/projects/topics', 'GET /explore/projects/topics/:name'],
    load: async () => (await import('./pages/topics/pages.ts')).pages,
  },
  {
    lines: ['GET /help', 'GET /help/:topic'],
    load: async () => (await import('./pages/help/pages.ts')).pages,
  },
  { lines: ['GET /search'], load: async () => (await import('./pages/search/pages.ts')).pages },
  {
    lines: [
      'GET /robots.txt',
      'GET /favicon.ico',
      'GET /.well-known/security.txt',
      'GET /.well-known/change-password',
    ],
    load: async () => (await import('./pages/site/pages.ts')).pages,
  },
  {
    lines: [
      'GET /users/sign_in',
      'POST /users/sign_in',
      'POST /users/sign_out',
      'POST /users/stop_impersonating',
    ],
    load: async () => (await import('./pages/sessions/pages.ts')).pages,
  },
  {
    lines: ['GET /-/unsubscribe/:token', 'POST /-/unsubscribe/:token'],
    load: async () => (await import('./pages/unsubscribe/pages.ts')).pages,
  },
  {
    lines: accountLinkLines,
    load: async () => (await import('./pages/account_links/pages.ts')).pages,
  },
  {
    lines: ['GET /users/invitation', 'POST /users/invitation/accept', 'POST /users/invitation/decline'],
    load: async () => (await import('./pages/invitation/pages.ts')).pages,
  },
  {
    lines: [
      'GET /users/:name/activity',
      'GET /users/:name/activity.atom',
      'GET /dashboard/activity',
      'GET /dashboard/activity.atom',
    ],
    load: activityPages,
  },
  {
    lines: ['GET /users/sign_up', 'POST /users/sign_up'],
    load: async () => (await import('./pages/users/pages.ts')).pages,
  },
  {
    lines: profileLines,
    load: async () => (await import('./pages/profile/pages.ts')).pages,
  },
  {
    lines: [
      'GET /profile/two_factor',
      'POST /profile/two_factor',
      'POST /profile/two_factor/begin',
      'POST /profile/two_factor/recovery_codes',
      'POST /profile/two_factor/disable',
      'POST /users/sign_in/second_factor',
    ],
    load: async () => (await import('./pages/two_factor/pages.ts')).pages,
  },
  {
    lines: [
      'GET /profile/passkeys',
      'POST /profile/passkeys',
      'POST /profile/passkeys/:id/delete',
      'POST /users/sign_in/passkey',
    ],
    load: async () => (await import('./pages/passkeys/pages.ts')).pages,
  },
  {
    lines: ['GET /oauth/authorize', 'POST /oauth/authorize'],
    load: async () => (await import('./pages/oauth/pages.ts')).pages,
  },
  {
    lines: [
      'GET /profile/applications',
      'POST /profile/applications',
      'POST /profile/applications/:id/delete',
      'POST /profile/applications/authorized/:id/revoke',
    ],
    load: async () => (await import('./pages/applications/pages.ts')).pages,
  },
  {
    lines: [
      'POST /users/auth/:provider',
      'GET /users/auth/:provider/callback',
      'GET /profile/identities',
      'POST /profile/identities/:provider/unlink',
    ],
    load: async () => (await import('./pages/identities/pages.ts')).pages,
  },
  {
    lines: [
      'GET /profile/personal_access_tokens',
      'POST /profile/personal_access_tokens',
      'POST /profile/personal_access_tokens/:id/revoke',
      'POST /profile/personal_access_tokens/:id/rotate',
      'POST /profile/feed_addresses/reset',
    ],
    load: async () => (await import('./pages/tokens/pages.ts')).pages,
  },
  {
    lines: [
      'GET /-/snippets',
      'POST /-/snippets',
      'GET /-/snippets/new',
      'GET /-/snippets/:id',
      'GET /snippets',
      'GET /snippets/:id',
      'POST /snippets/:id',
      'GET /snippets/:id/edit',
      'GET /snippets/:id/raw',
      'GET /snippets/:id/raw/:ref/:path',
      'POST /snippets/:id/delete',
    ],
    load: async () => (await import('./pages/snippets/pages.ts')).pages,
  },
  {
    lines: ['GET /profile/keys', 'POST /profile/keys', 'POST /profile/keys/:id/delete'],
    load: async () => (await import('./pages/keys/pages.ts')).pages,
  },
  {
    lines: [
      'GET /profile/emails',
      'POST /profile/emails',
      'POST /profile/emails/:id/resend',
      'POST /profile/emails/:id/delete',
      'GET /users/emails/confirmation',
      'POST /users/emails/confirmation',
    ],
    load: async () => (await import('./pages/emails/pages.ts')).pages,
  },
  {
    lines: ['GET /profile/gpg_keys', 'POST /profile/gpg_keys', 'POST /profile/gpg_keys/:id/delete'],
    load: async () => (await import('./pages/gpg_keys/pages.ts')).pages,
  },
  {
    lines: [
      'GET /admin',
      'GET /admin/application_settings',
      'POST /admin/application_settings',
      'GET /admin/configuration',
      'GET /admin/background_work',
      'POST /admin/background_work/retry',
      'POST /admin/background_work/:id/retry',
      'GET /admin/repository_moves',
      'POST /admin/repository_moves',
      'POST /admin/repository_moves/all',
      'GET /admin/mail',
      'POST /admin/mail/test',
      'GET /admin/mail/:id',
      'GET /admin/mail/:id/html',
      'GET /admin/audit_events',
      'GET /admin/groups',
      'GET /admin/projects',
      'GET /admin/projects/:id',
      'GET /admin/topics',
      'GET /admin/topics/new',
      'POST /admin/topics',
      'GET /admin/topics/:id/edit',
      'POST /admin/topics/:id',
      'POST /admin/topics/:id/merge',
      'POST /admin/topics/:id/delete',
      'GET /admin/jobs',
      'POST /admin/jobs/cancel',
      'GET /admin/applications',
      'GET /admin/applications/new',
      'POST /admin/applications',
      'POST /admin/applications/:id/delete',
      'GET /admin/broadcast_messages',
      'GET /admin/broadcast_messages/new',
      'POST /admin/broadcast_messages',
      'GET /admin/broadcast_messages/:id/edit',
      'POST /admin/broadcast_messages/:id',
      'POST /admin/broadcast_messages/:id/delete',
      'GET /admin/deploy_keys',
      'GET /admin/failing_webhooks',
      'GET /admin/health',
      'POST /admin/health/backup',
      'GET /admin/users',
      'GET /admin/users/new',
      'POST /admin/users',
      'GET /admin/users/:id',
      'GET /admin/users/:id/edit',
      'POST /admin/users/:id/edit',
      'POST /admin/users/:id/impersonate',
      'POST /admin/users/:id/block',
      'POST /admin/users/:id/unblock',
      'POST /admin/users/:id/reset_password',
      'POST /admin/users/:id/disable_two_factor',
      'GET /admin/users/:id/delete',
      'POST /admin/users/:id/delete',
      'GET /admin/users/:id/sessions',
      'POST /admin/users/:id/sessions/:session_id/end',
      'GET /admin/users/:id/emails',
      'POST /admin/users/:id/emails',
      'POST /admin/users/:id/emails/:email_id/resend',
      'POST /admin/users/:id/emails/:email_id/delete',
      'GET /admin/users/:id/identities',
      'POST /admin/users/:id/identities',
      'POST /admin/users/:id/identities/delete',
      'GET /admin/users/:id/memberships',
      'GET /admin/users/:id/keys',
      'POST /admin/users/:id/keys',
      'POST /admin/users/:id/keys/:key_id/delete',
      'GET /admin/users/:id/gpg_keys',
      'POST /admin/users/:id/gpg_keys',
      'POST /admin/users/:id/gpg_keys/:key_id/delete',
      'GET /admin/users/:id/tokens',
      'POST /admin/users/:id/tokens',
      'POST /admin/users/:id/tokens/:token_id/revoke',
    ],
    load: async () => (await import('./pages/admin/pages.ts')).pages,
  },
  {
    lines: [
      'GET /admin/runners',
      'POST /admin/runners',
      'POST /admin/runners/reset_registration_token',
      'GET /admin/runners/:id',
      'POST /admin/runners/:id',
      'POST /admin/runners/:id/reset_token',
      'POST /admin/runners/:id/pause',
      'POST /admin/runners/:id/resume',
      'POST /admin/runners/:id/delete',
    ],
    load: async () => (await import('./pages/runners/pages.ts')).pages,
  },
  {
    lines: [
      'GET /admin/variables',
      'POST /admin/variables',
      'GET /admin/variables/:key',
      'POST /admin/variables/:key',
      'POST /admin/variables/:key/delete',
    ],
    load: async () => (await import('./pages/variables/pages.ts')).pages,
  },
  { lines: routeLines('/admin', { noun: 'hooks', lines: hookLines }), load: hookPages },
  {
    lines: ['POST /-/broadcast_messages/:id/dismiss'],
    load: async () => (await import('./pages/broadcast_messages/pages.ts')).pages,
  },
  {
    lines: ['POST /-/preferences'],
    load: async () => (await import('./pages/profile/choose_preference.ts')).pages,
  },
  {
    lines: ['POST /-/preview_markdown', 'GET /-/completions'],
    load: async () => (await import('./pages/markdown/pages.ts')).pages,
  },
  {
    lines: [
      'POST /-/saved_views',
      'POST /-/saved_views/replace',
      'POST /-/saved_views/:id',
      'POST /-/saved_views/:id/delete',
    ],
    load: async () => (await import('./pages/saved_views/pages.ts')).pages,
  },
  {
    lines: ['POST /-/issues/bulk_update'],
    load: async () => (await import('./pages/issues/bulk_pages.ts')).pages,
  },
  {
    lines: ['POST /-/merge_requests/bulk_update'],
    load: async () => (await import('./pages/merge_requests/bulk_pages.ts')).pages,
  },
  {
    lines: ['GET /projects/new', 'POST /projects', 'GET /projects/import', 'POST /projects/import'],
    load: homePages,
  },
  { lines: ['GET /-/jump'], load: async () => (await import('./pages/jump/pages.ts')).pages },
  { isOfPlace: true, lines: [`GET ${projectRoot}`], load: homePages },
  {
    lines: ['GET /groups/new', 'POST /groups', 'GET /explore/groups', 'GET /dashboard/groups'],
    load: async () => (await import('./pages/groups/pages.ts')).pages,
  },
  {
    isOfPlace: true,
    lines: [`GET ${groupRoot}`],
    load: async () => (await import('./pages/groups/pages.ts')).pages,
  },
  {
    isOfPlace: true,
    lines: ['GET /-/namespaces/:name'],
    load: async () => (await import('./pages/people/pages.ts')).pages,
  },
  ...groupNouns.map((noun) => ({ lines: routeLines(groupRoot, noun), load: groupPages[noun.noun] })),
  ...projectNouns.map((noun) => ({ lines: routeLines(projectRoot, noun), load: projectPages[noun.noun] })),
];

/** Bytes of the forms, by line, that may be larger than others: they send files. */
export const largeForms: ReadonlyMap<string, number> = new Map([
  [`POST ${projectRoot}/upload/:rest`, maxCommitBytes],
]);

const allLines: ReadonlySet<string> = new Set(pagePaths.flatMap(({ lines }) => lines));

/** Returns whether a page exists, by its line: messages link only to pages that exist. */
export const hasPage = (line: string): boolean => allLines.has(line);
