/**
 * The pages of projects and groups: each noun is declared once. Routes (`routes.ts`), navigation, and the paths
 * that lead to a page derive from these tables.
 */
import type { GroupAction, ProjectAction } from '../../core/access/may.ts';

/** The pages below one noun of a project or group, such as `/group/project/-/pipelines`. */
export type NounPages<Action> = {
  noun: string;
  /** The text of its link in the navigation. */
  name: string;
  /** The link is shown to users who may do this. */
  action: Action;
  /** Method, and path below the noun: `POST /:id/cancel`. */
  lines: readonly string[];
};

/** Where the pages of a project are served; links use the project's own path. */
export const projectRoot = '/-/projects/:project';

/** Where the pages of a group are served; links use `/groups/` and the group's own path. */
export const groupRoot = '/-/groups/:group';

export const projectNouns = [
  {
    noun: 'pipelines',
    name: 'Pipelines',
    action: 'read_pipeline',
    lines: ['GET', 'POST', 'GET /new', 'GET /:id', 'POST /:id/cancel', 'POST /:id/retry'],
  },
  {
    noun: 'jobs',
    name: 'Jobs',
    action: 'read_job',
    lines: [
      'GET',
      'GET /:id',
      'POST /:id/cancel',
      'POST /:id/retry',
      'POST /:id/play',
      'POST /:id/erase',
      'POST /:id/keep',
      'GET /:id/artifacts/browse',
      'GET /:id/artifacts/browse/:path',
      'GET /:id/artifacts/exposed',
    ],
  },
  {
    noun: 'pipeline_schedules',
    name: 'Schedules',
    action: 'read_pipeline',
    lines: [
      'GET',
      'POST',
      'GET /:id',
      'POST /:id',
      'POST /:id/play',
      'POST /:id/take_ownership',
      'POST /:id/delete',
      'POST /:id/variables',
      'POST /:id/variables/edit',
      'POST /:id/variables/delete',
    ],
  },
  {
    noun: 'environments',
    name: 'Environments',
    action: 'read_environment',
    lines: ['GET', 'POST', 'GET /:id', 'POST /:id', 'POST /:id/stop', 'POST /:id/delete'],
  },
  {
    noun: 'variables',
    name: 'Variables',
    action: 'admin_variable',
    lines: ['GET', 'POST', 'GET /:key', 'POST /:key', 'POST /:key/delete'],
  },
  {
    noun: 'triggers',
    name: 'Triggers',
    action: 'admin_trigger',
    lines: ['GET', 'POST', 'POST /:id', 'POST /:id/delete'],
  },
  {
    noun: 'runners',
    name: 'Runners',
    action: 'admin_runner',
    lines: [
      'GET',
      'POST',
      'POST /reset_registration_token',
      'GET /:id',
      'POST /:id',
      'POST /:id/reset_token',
      'POST /:id/pause',
      'POST /:id/resume',
      'POST /:id/delete',
      'POST /:id/disable',
    ],
  },
  {
    noun: 'job_token_scope',
    name: 'Job tokens',
    action: 'admin_project',
    lines: [
      'GET',
      'POST',
      'POST /projects',
      'POST /projects/:id/delete',
      'POST /groups',
      'POST /groups/:id/delete',
    ],
  },
] as const satisfies readonly NounPages<ProjectAction>[];

export const groupNouns = [
  {
    noun: 'variables',
    name: 'Variables',
    action: 'admin_group_variable',
    lines: ['GET', 'POST', 'GET /:key', 'POST /:key', 'POST /:key/delete'],
  },
  {
    noun: 'runners',
    name: 'Runners',
    action: 'admin_group_runner',
    lines: [
      'GET',
      'POST',
      'POST /reset_registration_token',
      'GET /:id',
      'POST /:id',
      'POST /:id/reset_token',
      'POST /:id/pause',
      'POST /:id/resume',
      'POST /:id/delete',
    ],
  },
] as const satisfies readonly NounPages<GroupAction>[];

/** The lines of a noun's pages as they are served: `POST /-/projects/:project/pipelines/:id/cancel`. */
export const servedLines = (root: string, { noun, lines }: NounPages<unknown>): string[] =>
  lines.map((line) => {
    const [method = '', below = ''] = line.split(' ');
    return `${method} ${root}/${noun}${below}`;
  });
