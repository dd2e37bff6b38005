/** Parameters that describe a runner, and filters of lists. */
import type { Static } from 'typebox';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import {
  boolean,
  clearable,
  integer,
  names,
  object,
  oneOf,
  optional,
  text,
} from '../../platform/http/schema.ts';
import { runnerStatuses } from '../jobs/runner_json.ts';
import type { RunnerFilters } from './lists/queries.ts';
import { type RunnerFacts, accessLevels, runnerTypes, formatTags } from './rules.ts';

const longText = text({ maxLength: 1024 });

export const factParams = {
  description: optional(longText),
  maintenance_note: optional(longText),
  paused: optional(boolean({ description: 'do not assign new jobs' })),
  active: optional(boolean({ description: 'deprecated: the opposite of `paused`' })),
  locked: optional(boolean({ description: 'cannot be enabled for other projects' })),
  access_level: optional(oneOf(accessLevels, { description: '`ref_protected`: protected refs only' })),
  run_untagged: optional(boolean({ description: 'run jobs without tags' })),
  tag_list: optional(names({ description: 'at most 50' })),
  maximum_timeout: optional(
    clearable(integer({ description: 'maximum duration in seconds, at least 600; 0: none' })),
  ),
};

const shape = object(factParams);

const isActive = ({ paused, active }: Static<typeof shape>): boolean | undefined =>
  paused === undefined ? active : !paused;

export const readFacts = (input: Static<typeof shape>): Partial<RunnerFacts> => {
  const { description, maintenance_note, locked, access_level, run_untagged, tag_list } = input;
  const active = isActive(input);
  const { maximum_timeout } = input;
  return {
    ...(description !== undefined && { description }),
    ...(maintenance_note !== undefined && { maintenance_note }),
    ...(active !== undefined && { active: toFlag(active) }),
    ...(locked !== undefined && { locked: toFlag(locked) }),
    ...(access_level !== undefined && { access_level }),
    ...(run_untagged !== undefined && { run_untagged: toFlag(run_untagged) }),
    ...(tag_list !== undefined && { tag_list: formatTags(tag_list) }),
    ...(maximum_timeout !== undefined && { maximum_timeout: maximum_timeout === 0 ? null : maximum_timeout }),
  };
};

const statuses = [...runnerStatuses, 'active', 'paused'] as const;

export const filterParams = {
  type: optional(oneOf(runnerTypes)),
  status: optional(oneOf(statuses)),
  paused: optional(boolean()),
  tag_list: optional(names({ description: 'runners with all of these tags' })),
  scope: optional(
    oneOf([...statuses, 'shared', 'specific'] as const, { description: 'deprecated: a status or a type' }),
  ),
};

const filterShape = object(filterParams);

const oldTypes = { shared: 'instance_type', specific: 'project_type' } as const;

export const readFilters = (input: Static<typeof filterShape>): RunnerFilters => {
  const { type, status, paused, tag_list, scope } = input;
  if (scope === undefined) return { type, status, paused, tag_list };
  if (scope === 'shared' || scope === 'specific') {
    return { type: type ?? oldTypes[scope], status, paused, tag_list };
  }
  return { type, status: status ?? scope, paused, tag_list };
};
