/** The kinds of changes that a hook can ask for: columns, parameters and JSON keys. */
export const eventFlags = {
  push_events: 'pushes to branches',
  tag_push_events: 'tag pushes',
  issues_events: 'changes of issues',
  confidential_issues_events: 'changes of confidential issues',
  merge_requests_events: 'changes of merge requests',
  note_events: 'comments',
  confidential_note_events: 'comments on confidential issues',
  job_events: 'statuses of jobs',
  pipeline_events: 'statuses of pipelines',
  wiki_page_events: 'never sent: wikis are not supported',
  deployment_events: 'deployments',
  releases_events: 'releases',
  member_events: 'changes of members',
  emoji_events: 'award emoji',
  feature_flag_events: 'never sent: feature flags are not supported',
  repository_update_events: 'pushes, with all their branches and tags',
} as const;

export type EventFlag = keyof typeof eventFlags;

export const eventFlagNames = Object.keys(eventFlags) as EventFlag[];

/** Hooks of the instance select only these; they receive the changes of users, groups and projects in any case. */
export const systemFlags: readonly EventFlag[] = [
  'push_events',
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
];

export const branchFilterStrategies = ['wildcard', 'regex', 'all_branches'] as const;

export type BranchFilterStrategy = (typeof branchFilterStrategies)[number];

/** Format of a hook: the payload, or a message for incoming webhooks of a chat service. */
export const hookFormats = ['json', 'slack', 'microsoft_teams'] as const;

export type HookFormat = (typeof hookFormats)[number];
