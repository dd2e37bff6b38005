/** Lists every page and the module that contains it. Modules are loaded at the first request for one of their pages. */
import type { AnyPage } from './page.ts';
import { groupNouns, groupRoot, projectNouns, projectRoot, servedLines } from './places.ts';

export type PagePath = {
  /** `GET /users/sign_in` */
  lines: readonly string[];
  load: () => Promise<readonly AnyPage[]>;
  /** The page of a user, group or project itself, whose address could be any path. */
  isOfPlace?: true;
};

type Load = PagePath['load'];

const projectPages: Record<(typeof projectNouns)[number]['noun'], Load> = {
  pipelines: async () => (await import('./pages/ci/pages.ts')).pages,
  jobs: async () => (await import('./pages/ci/pages.ts')).pages,
  pipeline_schedules: async () => (await import('./pages/schedules/pages.ts')).pages,
  environments: async () => (await import('./pages/environments/pages.ts')).pages,
  variables: async () => (await import('./pages/variables/pages.ts')).pages,
  triggers: async () => (await import('./pages/triggers/pages.ts')).pages,
  runners: async () => (await import('./pages/runners/pages.ts')).pages,
  job_token_scope: async () => (await import('./pages/job_token_scope/pages.ts')).pages,
};

const groupPages: Record<(typeof groupNouns)[number]['noun'], Load> = {
  variables: async () => (await import('./pages/variables/pages.ts')).pages,
  runners: async () => (await import('./pages/runners/pages.ts')).pages,
};

export const pagePaths: PagePath[] = [
  {
    lines: ['GET /'],
    load: async () => (await import('./pages/dashboard/pages.ts')).pages,
  },
  {
    lines: ['GET /users/sign_in', 'POST /users/sign_in', 'POST /users/sign_out'],
    load: async () => (await import('./pages/sessions/pages.ts')).pages,
  },
  {
    lines: ['GET /users/sign_up', 'POST /users/sign_up'],
    load: async () => (await import('./pages/users/pages.ts')).pages,
  },
  {
    lines: [
      'GET /profile',
      'POST /profile',
      'GET /profile/password',
      'POST /profile/password',
      'GET /profile/sessions',
      'POST /profile/sessions/:id/revoke',
    ],
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
    ],
    load: async () => (await import('./pages/tokens/pages.ts')).pages,
  },
  {
    lines: ['GET /profile/keys', 'POST /profile/keys', 'POST /profile/keys/:id/delete'],
    load: async () => (await import('./pages/keys/pages.ts')).pages,
  },
  {
    lines: [
      'GET /admin',
      'GET /admin/application_settings',
      'POST /admin/application_settings',
      'GET /admin/background_work',
      'POST /admin/background_work/retry',
      'POST /admin/background_work/:id/retry',
      'GET /admin/audit_events',
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
  {
    isOfPlace: true,
    lines: [`GET ${projectRoot}`],
    load: async () => (await import('./pages/projects/pages.ts')).pages,
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
  ...groupNouns.map((noun) => ({ lines: servedLines(groupRoot, noun), load: groupPages[noun.noun] })),
  ...projectNouns.map((noun) => ({ lines: servedLines(projectRoot, noun), load: projectPages[noun.noun] })),
];

/** Checks whether a page exists, by its line: messages link only to pages that exist. */
export const hasPage = (line: string): boolean => pagePaths.some(({ lines }) => lines.includes(line));
