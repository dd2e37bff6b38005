import type { DeployKeyProjectsTable } from '../../platform/db/schema/projects.ts';
import { array, bool, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { keyJson, keyShape } from '../../identity/keys/json.ts';
import type { KeyRow } from '../../identity/keys/queries.ts';
import { formatTime } from '../../platform/time.ts';

/** A deploy key in a project. */
export const deployKeyShape = object({ ...keyShape.properties, can_push: bool });

const projectShape = object({
  id: int,
  description: nullable(string),
  name: string,
  path: string,
  path_with_namespace: string,
  created_at: timestamp,
});

/** A deploy key of the instance. */
export const sharedDeployKeyShape = object({
  ...keyShape.properties,
  projects_with_write_access: array(projectShape),
  projects_with_readonly_access: array(projectShape),
});

export type DeployKeyRow = KeyRow & { can_push: DeployKeyProjectsTable['can_push'] };

export const deployKeyJson = (row: DeployKeyRow) => ({ ...keyJson(row), can_push: row.can_push === 1 });

/** A project that has a key. */
export type KeyProject = {
  key_id: number;
  can_push: DeployKeyProjectsTable['can_push'];
  id: number;
  description: string | null;
  name: string;
  path: string;
  full_path: string;
  created_at: number;
};

const projectJson = ({ id, description, name, path, full_path, created_at }: KeyProject) => ({
  id,
  description,
  name,
  path,
  path_with_namespace: full_path,
  created_at: formatTime(created_at),
});

export const sharedDeployKeyJson = (row: KeyRow, projects: readonly KeyProject[]) => ({
  ...keyJson(row),
  projects_with_write_access: projects.filter(({ can_push }) => can_push === 1).map(projectJson),
  projects_with_readonly_access: projects.filter(({ can_push }) => can_push === 0).map(projectJson),
});
