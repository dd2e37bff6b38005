/** Row types of the tables of runners; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { Flag, Id } from './column_types.ts';

export type RunnerType = 'instance_type' | 'group_type' | 'project_type';

export type RunnersTable = {
  id: Id;
  /** SHA-256 of the token, hexadecimal. */
  token_hash: string;
  /** First characters of the token, by which users recognize it. */
  token_start: string;
  runner_type: RunnerType;
  description: string | null;
  maintenance_note: string | null;
  active: Generated<Flag>;
  locked: Generated<Flag>;
  run_untagged: Generated<Flag>;
  /** JSON array, sorted. */
  tag_list: Generated<string>;
  access_level: Generated<'not_protected' | 'ref_protected'>;
  /** Seconds. */
  maximum_timeout: number | null;
  creator_id: number | null;
  contacted_at: number | null;
  created_at: number;
  updated_at: number;
};

export type RunnerProjectsTable = { runner_id: number; project_id: number };

export type RunnerGroupsTable = { runner_id: number; namespace_id: number };

/** Machines that share a runner's token. */
export type RunnerManagersTable = {
  runner_id: number;
  system_id: string;
  version: string | null;
  revision: string | null;
  platform: string | null;
  architecture: string | null;
  executor: string | null;
  ip_address: string | null;
  contacted_at: number;
  created_at: number;
};
