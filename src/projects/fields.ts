/** What a client may set of a project, when it is made and later. */
import type { Static } from 'typebox';
import type { FeatureLevel, Flag, Visibility } from '../db/schema.ts';
import { visibilities } from '../groups/rules.ts';
import { invalid } from '../errors.ts';
import { boolean, clearable, integer, object, oneOf, optional, text } from '../http/schema.ts';

const level = optional(oneOf(['disabled', 'private', 'enabled']));
const flag = optional(boolean());

const levels = {
  issues_access_level: level,
  merge_requests_access_level: level,
  builds_access_level: level,
  repository_access_level: level,
  wiki_access_level: level,
  snippets_access_level: level,
};

const flags = {
  public_builds: flag,
  shared_runners_enabled: flag,
  container_registry_enabled: flag,
  lfs_enabled: flag,
  request_access_enabled: flag,
  only_allow_merge_if_pipeline_succeeds: flag,
  only_allow_merge_if_all_discussions_are_resolved: flag,
  remove_source_branch_after_merge: flag,
  keep_latest_artifact: flag,
};

/** Seconds: ten minutes to a month. */
const timeouts = { minimum: 600, maximum: 2_592_000 };

const ofPipelines = {
  ci_config_path: optional(clearable(text({ description: 'default: `.gitlab-ci.yml`' }))),
  build_timeout: optional(integer({ ...timeouts, description: 'seconds that a job may take' })),
  max_artifacts_size: optional(
    clearable(
      integer({ minimum: 1, maximum: 80_000, description: 'megabytes of one artifact (administrators)' }),
    ),
  ),
  auto_cancel_pending_pipelines: optional(oneOf(['enabled', 'disabled'])),
  ci_default_git_depth: optional(
    integer({ minimum: 0, maximum: 1000, description: 'commits that jobs fetch; 0: all' }),
  ),
};

/** The older way to say that a feature is on for everybody, or off. */
const switches = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  jobs_enabled: 'builds_access_level',
  wiki_enabled: 'wiki_access_level',
  snippets_enabled: 'snippets_access_level',
} as const;

export const projectParams = {
  name: optional(text()),
  path: optional(text()),
  description: optional(clearable(text({ maxLength: 2000 }))),
  visibility: optional(oneOf(visibilities)),
  public: optional(boolean({ description: 'true: as `visibility=public`, false: as `private`' })),
  issues_enabled: flag,
  merge_requests_enabled: flag,
  jobs_enabled: flag,
  wiki_enabled: flag,
  snippets_enabled: flag,
  ...levels,
  ...flags,
  ...ofPipelines,
  public_jobs: optional(boolean({ description: 'another name of `public_builds`' })),
  default_branch: optional(text({ description: 'a branch that is there; an empty repository has none' })),
  merge_method: optional(oneOf(['merge', 'rebase_merge', 'ff'])),
  squash_option: optional(oneOf(['never', 'always', 'default_on', 'default_off'])),
};

const shape = object(projectParams);
type Params = Partial<Static<typeof shape>>;

type LevelName = keyof typeof levels;
type FlagName = keyof typeof flags;

/** Columns of a project as a client wants them. */
export type ProjectColumns = {
  name?: string;
  path?: string;
  description?: string | null;
  visibility?: Visibility;
  default_branch?: string;
  merge_method?: 'merge' | 'rebase_merge' | 'ff';
  squash_option?: 'never' | 'always' | 'default_on' | 'default_off';
  ci_config_path?: string | null;
  build_timeout?: number;
  max_artifacts_size?: number | null;
  auto_cancel_pending_pipelines?: 'enabled' | 'disabled';
  ci_default_git_depth?: number;
} & { [N in LevelName]?: FeatureLevel } & { [N in FlagName]?: Flag };

const visibilityOf = ({ visibility, public: isPublic }: Params): Visibility | undefined => {
  if (visibility !== undefined || isPublic === undefined) return visibility;
  return isPublic ? 'public' : 'private';
};

const switched = (params: Params): [LevelName, FeatureLevel][] =>
  (Object.keys(switches) as (keyof typeof switches)[])
    .filter((name) => params[name] !== undefined)
    .map((name) => [switches[name], params[name] === true ? 'enabled' : 'disabled']);

/** @throws Failure 400 for one that leads out of the repository */
const configPathOf = (given: string | null): string | null => {
  const path = given?.replace(/^\/+/, '') ?? '';
  if (path.split('/').includes('..')) {
    throw invalid({ ci_config_path: ['must not include leading slash or directory traversal.'] });
  }
  return path === '' ? null : path;
};

const pipelineColumns = (params: Params) => ({
  ...(params.ci_config_path !== undefined && { ci_config_path: configPathOf(params.ci_config_path) }),
  ...(params.build_timeout !== undefined && { build_timeout: params.build_timeout }),
  ...(params.max_artifacts_size !== undefined && { max_artifacts_size: params.max_artifacts_size }),
  ...(params.auto_cancel_pending_pipelines !== undefined && {
    auto_cancel_pending_pipelines: params.auto_cancel_pending_pipelines,
  }),
  ...(params.ci_default_git_depth !== undefined && { ci_default_git_depth: params.ci_default_git_depth }),
});

/** The columns that the parameters set: a level wins over a switch, `visibility` over `public`. */
export const columnsOf = (params: Params): ProjectColumns => {
  const visibility = visibilityOf(params);
  const given = { ...params, public_builds: params.public_builds ?? params.public_jobs };
  const set = (Object.keys(flags) as FlagName[]).filter((name) => given[name] !== undefined);
  const named = (Object.keys(levels) as LevelName[]).filter((name) => params[name] !== undefined);
  return {
    ...(params.name !== undefined && { name: params.name }),
    ...(params.path !== undefined && { path: params.path }),
    ...(params.description !== undefined && { description: params.description }),
    ...(visibility !== undefined && { visibility }),
    ...(params.default_branch !== undefined && { default_branch: params.default_branch }),
    ...(params.merge_method !== undefined && { merge_method: params.merge_method }),
    ...(params.squash_option !== undefined && { squash_option: params.squash_option }),
    ...pipelineColumns(params),
    ...Object.fromEntries(switched(params)),
    ...Object.fromEntries(named.map((name) => [name, params[name]])),
    ...Object.fromEntries(set.map((name) => [name, given[name] === true ? 1 : 0])),
  };
};
