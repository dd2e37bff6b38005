/** Every page, by the module that has it: loaded when one of them is first asked for. */
import type { AnyPage } from './page.ts';

export type PagePath = {
  /** `GET /users/sign_in` */
  lines: readonly string[];
  load: () => Promise<readonly AnyPage[]>;
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
      'GET /-/projects/:project/pipelines',
      'POST /-/projects/:project/pipelines',
      'GET /-/projects/:project/pipelines/new',
      'GET /-/projects/:project/pipelines/:id',
      'POST /-/projects/:project/pipelines/:id/cancel',
      'POST /-/projects/:project/pipelines/:id/retry',
      'GET /-/projects/:project/jobs',
      'GET /-/projects/:project/jobs/:id',
      'POST /-/projects/:project/jobs/:id/cancel',
      'POST /-/projects/:project/jobs/:id/retry',
      'POST /-/projects/:project/jobs/:id/play',
      'POST /-/projects/:project/jobs/:id/erase',
      'POST /-/projects/:project/jobs/:id/keep',
      'GET /-/projects/:project/jobs/:id/artifacts/browse',
      'GET /-/projects/:project/jobs/:id/artifacts/browse/:path',
      'GET /-/projects/:project/jobs/:id/artifacts/exposed',
    ],
    load: async () => (await import('./pages/ci/pages.ts')).pages,
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
      'GET /-/groups/:group/runners',
      'POST /-/groups/:group/runners',
      'POST /-/groups/:group/runners/reset_registration_token',
      'GET /-/groups/:group/runners/:id',
      'POST /-/groups/:group/runners/:id',
      'POST /-/groups/:group/runners/:id/reset_token',
      'POST /-/groups/:group/runners/:id/pause',
      'POST /-/groups/:group/runners/:id/resume',
      'POST /-/groups/:group/runners/:id/delete',
      'GET /-/projects/:project/runners',
      'POST /-/projects/:project/runners',
      'POST /-/projects/:project/runners/reset_registration_token',
      'GET /-/projects/:project/runners/:id',
      'POST /-/projects/:project/runners/:id',
      'POST /-/projects/:project/runners/:id/reset_token',
      'POST /-/projects/:project/runners/:id/pause',
      'POST /-/projects/:project/runners/:id/resume',
      'POST /-/projects/:project/runners/:id/delete',
      'POST /-/projects/:project/runners/:id/disable',
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
      'GET /-/groups/:group/variables',
      'POST /-/groups/:group/variables',
      'GET /-/groups/:group/variables/:key',
      'POST /-/groups/:group/variables/:key',
      'POST /-/groups/:group/variables/:key/delete',
      'GET /-/projects/:project/variables',
      'POST /-/projects/:project/variables',
      'GET /-/projects/:project/variables/:key',
      'POST /-/projects/:project/variables/:key',
      'POST /-/projects/:project/variables/:key/delete',
    ],
    load: async () => (await import('./pages/variables/pages.ts')).pages,
  },
  {
    lines: [
      'GET /-/projects/:project/pipeline_schedules',
      'POST /-/projects/:project/pipeline_schedules',
      'GET /-/projects/:project/pipeline_schedules/:id',
      'POST /-/projects/:project/pipeline_schedules/:id',
      'POST /-/projects/:project/pipeline_schedules/:id/play',
      'POST /-/projects/:project/pipeline_schedules/:id/take_ownership',
      'POST /-/projects/:project/pipeline_schedules/:id/delete',
      'POST /-/projects/:project/pipeline_schedules/:id/variables',
      'POST /-/projects/:project/pipeline_schedules/:id/variables/edit',
      'POST /-/projects/:project/pipeline_schedules/:id/variables/delete',
    ],
    load: async () => (await import('./pages/schedules/pages.ts')).pages,
  },
  {
    lines: [
      'GET /-/projects/:project/triggers',
      'POST /-/projects/:project/triggers',
      'POST /-/projects/:project/triggers/:id',
      'POST /-/projects/:project/triggers/:id/delete',
    ],
    load: async () => (await import('./pages/triggers/pages.ts')).pages,
  },
  {
    lines: [
      'GET /-/projects/:project/job_token_scope',
      'POST /-/projects/:project/job_token_scope',
      'POST /-/projects/:project/job_token_scope/projects',
      'POST /-/projects/:project/job_token_scope/projects/:id/delete',
      'POST /-/projects/:project/job_token_scope/groups',
      'POST /-/projects/:project/job_token_scope/groups/:id/delete',
    ],
    load: async () => (await import('./pages/job_token_scope/pages.ts')).pages,
  },
  {
    lines: [
      'GET /-/projects/:project/environments',
      'POST /-/projects/:project/environments',
      'GET /-/projects/:project/environments/:id',
      'POST /-/projects/:project/environments/:id',
      'POST /-/projects/:project/environments/:id/stop',
      'POST /-/projects/:project/environments/:id/delete',
    ],
    load: async () => (await import('./pages/environments/pages.ts')).pages,
  },
];

/** Whether a page is listed, by its line: messages link only to pages that exist. */
export const hasPage = (line: string): boolean => pagePaths.some(({ lines }) => lines.includes(line));
