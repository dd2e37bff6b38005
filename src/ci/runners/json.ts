import type { Static } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import { visibleProjects } from '../../core/access/visible.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import { array, bool, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { basicRunner, basicRunnerShape } from '../jobs/runner_json.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import type { SeenRunner } from './lists/queries.ts';
import { parseTags } from './rules.ts';

/** A runner in lists. The address is for users who manage the runner. */
export const runnerShape = object({
  ...basicRunnerShape.properties,
  ip_address: nullable(string),
  created_at: timestamp,
});

const projectShape = object({
  id: int,
  description: nullable(string),
  name: string,
  path: string,
  path_with_namespace: string,
  web_url: string,
  created_at: timestamp,
});

const groupShape = object({ id: int, name: string, web_url: string });

export const runnerDetailsShape = object({
  ...runnerShape.properties,
  tag_list: array(string),
  run_untagged: bool,
  locked: bool,
  maximum_timeout: nullable(int),
  access_level: string,
  maintenance_note: nullable(string),
  contacted_at: nullable(timestamp),
  version: nullable(string),
  revision: nullable(string),
  platform: nullable(string),
  architecture: nullable(string),
  projects: array(projectShape),
  groups: array(groupShape),
});

export const tokenShape = object({ token: string, token_expires_at: nullable(timestamp) });
export const createdShape = object({ id: runnerShape.properties.id, ...tokenShape.properties });

/** Runner tokens do not expire: they are reset. */
export const noExpiry = { token_expires_at: null };

export const toRunnerJson = (runner: SeenRunner, now: number): Static<typeof runnerShape> => ({
  ...basicRunner(runner, now),
  ip_address: runner.manages === 1 ? runner.ip_address : null,
  created_at: formatTime(runner.created_at),
});

/** Maximum projects or groups listed for one runner. */
const maxListed = 100;

/** Lists the runner's projects that the caller may see. */
const listProjects = async ({ db, viewer, platform, baseUrl }: Call, runnerId: number) => {
  const rows = await db
    .selectFrom('projects')
    .innerJoin('runner_projects', 'runner_projects.project_id', 'projects.id')
    .select(['id', 'description', 'name', 'path', 'full_path', 'created_at'])
    .where('runner_projects.runner_id', '=', runnerId)
    .where(visibleProjects(viewer, platform.store.dialect))
    .orderBy('id')
    .limit(maxListed)
    .execute();
  return rows.map(({ full_path, created_at, ...row }) => ({
    ...row,
    path_with_namespace: full_path,
    web_url: `${baseUrl}/${full_path}`,
    created_at: formatTime(created_at),
  }));
};

const listGroups = async ({ db, viewer, platform, baseUrl }: Call, runnerId: number) => {
  const rows = await db
    .selectFrom('namespaces')
    .innerJoin('runner_groups', 'runner_groups.namespace_id', 'namespaces.id')
    .select(['id', 'name', 'full_path'])
    .where('runner_groups.runner_id', '=', runnerId)
    .where(visibleGroups(viewer, platform.store.dialect))
    .orderBy('id')
    .limit(maxListed)
    .execute();
  return rows.map(({ id, name, full_path }) => ({ id, name, web_url: `${baseUrl}/groups/${full_path}` }));
};

const unknownProgram = { version: null, revision: null, platform: null, architecture: null };

/** Loads what the machine with the latest contact reported. */
const loadProgram = async ({ db }: Call, runnerId: number) =>
  (await db
    .selectFrom('runner_managers')
    .select(['version', 'revision', 'platform', 'architecture'])
    .where('runner_id', '=', runnerId)
    .orderBy('contacted_at', 'desc')
    .orderBy('system_id')
    .limit(1)
    .executeTakeFirst()) ?? unknownProgram;

export const loadRunnerDetails = async (
  call: Call,
  runner: SeenRunner,
): Promise<Static<typeof runnerDetailsShape>> => ({
  ...toRunnerJson(runner, call.now),
  tag_list: parseTags(runner),
  run_untagged: runner.run_untagged === 1,
  locked: runner.locked === 1,
  maximum_timeout: runner.maximum_timeout,
  access_level: runner.access_level,
  maintenance_note: runner.maintenance_note,
  contacted_at: formatTimeOrNull(runner.contacted_at),
  ...(await loadProgram(call, runner.id)),
  projects: await listProjects(call, runner.id),
  groups: await listGroups(call, runner.id),
});
