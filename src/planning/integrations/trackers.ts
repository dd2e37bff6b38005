/** The supported external issue trackers and their properties. Pure. */

export const slugs = ['jira', 'redmine', 'bugzilla', 'custom-issue-tracker', 'youtrack'] as const;

export type Slug = (typeof slugs)[number];

export type PropertyName =
  | 'url'
  | 'api_url'
  | 'username'
  | 'password'
  | 'project_key'
  | 'jira_issue_transition_id'
  | 'project_url'
  | 'issues_url'
  | 'new_issue_url'
  | 'title'
  | 'description';

export type Properties = { [P in PropertyName]?: string };

type Tracker = { title: string; required: readonly PropertyName[]; optional: readonly PropertyName[] };

const byUrls = {
  required: ['project_url', 'issues_url', 'new_issue_url'],
  optional: ['title', 'description'],
} as const;

export const trackers: { [S in Slug]: Tracker } = {
  jira: {
    title: 'Jira',
    required: ['url', 'password'],
    optional: ['api_url', 'username', 'project_key', 'jira_issue_transition_id'],
  },
  redmine: { title: 'Redmine', ...byUrls },
  bugzilla: { title: 'Bugzilla', ...byUrls },
  'custom-issue-tracker': { title: 'Custom Issue Tracker', ...byUrls },
  youtrack: {
    title: 'YouTrack',
    required: ['project_url', 'issues_url'],
    optional: ['title', 'description'],
  },
};

/** Stored encrypted, never returned. */
export const secretNames: readonly PropertyName[] = ['password'];

/** Address that receives a secret. A new address requires the secret again. */
export const addressNames: readonly PropertyName[] = ['url', 'api_url'];

const isWebUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.host !== '';
};

/** Returns the problem with a property's value; null if it is valid. */
export const findProblem = (name: PropertyName, value: string): string | null => {
  if (!name.endsWith('url')) return null;
  // `:id` is the placeholder of the number.
  return isWebUrl(value) ? null : 'is not a valid URL';
};

/** Returns the properties of a tracker in the order of its form. */
export const listProperties = (slug: Slug): PropertyName[] => [
  ...trackers[slug].required,
  ...trackers[slug].optional,
];
