/** The attributes of a project that a client may set, at creation and later. */
import type { Static } from 'typebox';
import { type Flag, type Visibility, toFlag } from '../../platform/db/schema/column_types.ts';
import { avatarParam } from '../../identity/avatars/store_avatar.ts';
import { visibilities } from '../../identity/groups/rules.ts';
import { invalid } from '../../platform/errors.ts';
import { boolean, clearable, integer, object, oneOf, optional, text } from '../../platform/http/schema.ts';
import { type FeatureColumns, featureColumns, featureParams } from './features.ts';
import { topicParams, readTopics } from './topics.ts';

const flag = optional(boolean());

const flags = {
  public_builds: flag,
  shared_runners_enabled: flag,
  group_runners_enabled: flag,
  autoclose_referenced_issues: flag,
  printing_merge_request_link_enabled: flag,
  emails_enabled: flag,
  request_access_enabled: optional(
    boolean({ description: 'stored without effect: access requests are not supported' }),
  ),
  only_allow_merge_if_pipeline_succeeds: flag,
  only_allow_merge_if_all_discussions_are_resolved: flag,
  remove_source_branch_after_merge: flag,
  keep_latest_artifact: flag,
};

/** Seconds: ten minutes to a month. */
const timeouts = { minimum: 600, maximum: 2_592_000 };

const pipelineParams = {
  ci_config_path: optional(clearable(text({ description: 'default: `.gitlab-ci.yml`' }))),
  build_timeout: optional(integer({ ...timeouts, description: 'maximum duration of a job in seconds' })),
  max_artifacts_size: optional(
    clearable(
      integer({
        minimum: 1,
        maximum: 80_000,
        description: 'maximum artifact size in megabytes (administrators)',
      }),
    ),
  ),
  auto_cancel_pending_pipelines: optional(oneOf(['enabled', 'disabled'])),
  ci_default_git_depth: optional(
    integer({ minimum: 0, maximum: 1000, description: 'number of commits that jobs fetch; 0: all' }),
  ),
};

const messageTemplate = optional(
  clearable(text({ maxLength: 500, description: 'with variables such as `%{title}`; empty: the default' })),
);

const messageParams = {
  merge_commit_template: messageTemplate,
  squash_commit_template: messageTemplate,
  suggestion_commit_message: messageTemplate,
};

export const projectParams = {
  name: optional(text()),
  path: optional(text()),
  description: optional(clearable(text({ maxLength: 2000 }))),
  visibility: optional(oneOf(visibilities)),
  public: optional(
    boolean({ description: 'true means `visibility=public`, false means `visibility=private`' }),
  ),
  ...featureParams,
  ...topicParams,
  ...flags,
  ...pipelineParams,
  ...messageParams,
  emails_disabled: optional(boolean({ description: 'the opposite of `emails_enabled`' })),
  public_jobs: optional(boolean({ description: 'another name of `public_builds`' })),
  default_branch: optional(
    text({ description: 'an existing branch; cannot be set while the repository is empty' }),
  ),
  merge_method: optional(oneOf(['merge', 'rebase_merge', 'ff'])),
  squash_option: optional(oneOf(['never', 'always', 'default_on', 'default_off'])),
  avatar: avatarParam,
};

const shape = object(projectParams);
type Params = Partial<Static<typeof shape>>;

type FlagName = keyof typeof flags;

/** Columns of a project that a client sets. */
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
  merge_commit_template?: string | null;
  squash_commit_template?: string | null;
  suggestion_commit_message?: string | null;
  /** Column of the stored avatar (`identity/avatars/`). */
  avatar?: string | null;
} & FeatureColumns & { [N in FlagName]?: Flag };

/** The client's input: columns and topics. */
export type ProjectInput = ProjectColumns & { topics?: string[] };

const readVisibility = ({ visibility, public: isPublic }: Params): Visibility | undefined => {
  if (visibility !== undefined || isPublic === undefined) return visibility;
  return isPublic ? 'public' : 'private';
};

/** Checks the path of the configuration. @throws Failure 400 for one that leads out of the repository */
const readConfigPath = (value: string | null): string | null => {
  const path = value?.replace(/^\/+/, '') ?? '';
  if (path.split('/').includes('..')) {
    throw invalid({ ci_config_path: ['must not include leading slash or directory traversal.'] });
  }
  return path === '' ? null : path;
};

const pipelineColumns = (params: Params) => ({
  ...(params.ci_config_path !== undefined && { ci_config_path: readConfigPath(params.ci_config_path) }),
  ...(params.build_timeout !== undefined && { build_timeout: params.build_timeout }),
  ...(params.max_artifacts_size !== undefined && { max_artifacts_size: params.max_artifacts_size }),
  ...(params.auto_cancel_pending_pipelines !== undefined && {
    auto_cancel_pending_pipelines: params.auto_cancel_pending_pipelines,
  }),
  ...(params.ci_default_git_depth !== undefined && { ci_default_git_depth: params.ci_default_git_depth }),
});

const messageColumns = (params: Params) =>
  Object.fromEntries(
    Object.keys(messageParams).flatMap((name) => {
      const value = params[name as keyof typeof messageParams];
      return value === undefined ? [] : [[name, value?.replaceAll('\r\n', '\n') || null]];
    }),
  );

/** The input with the names of columns, where parameters have others. */
const withColumnNames = (params: Params): Params => {
  const { public_builds, public_jobs, emails_enabled, emails_disabled } = params;
  const isMailed = emails_enabled ?? (emails_disabled === undefined ? undefined : !emails_disabled);
  return {
    ...params,
    public_builds: public_builds ?? public_jobs,
    emails_enabled: isMailed,
  } as Params;
};

/** Reads the parameters. `visibility` takes precedence over `public`. @throws Failure 400 */
export const readProjectInput = (params: Params): ProjectInput => {
  const visibility = readVisibility(params);
  const input = withColumnNames(params);
  const set = (Object.keys(flags) as FlagName[]).filter((name) => input[name] !== undefined);
  const topics = readTopics(params);
  return {
    ...(params.name !== undefined && { name: params.name }),
    ...(params.path !== undefined && { path: params.path }),
    ...(params.description !== undefined && { description: params.description }),
    ...(visibility !== undefined && { visibility }),
    ...(params.default_branch !== undefined && { default_branch: params.default_branch }),
    ...(params.merge_method !== undefined && { merge_method: params.merge_method }),
    ...(params.squash_option !== undefined && { squash_option: params.squash_option }),
    ...pipelineColumns(params),
    ...messageColumns(params),
    ...(topics !== undefined && { topics }),
    ...featureColumns(params),
    ...Object.fromEntries(set.map((name) => [name, toFlag(input[name] === true)])),
  };
};
