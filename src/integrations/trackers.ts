/** The issue trackers outside that a project may work with, and what each of them is told. Pure. */

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

/** Stored sealed, shown to nobody. */
export const secretNames: readonly PropertyName[] = ['password'];

/** Where a secret is sent to: with another one it has to be given again. */
export const addressNames: readonly PropertyName[] = ['url', 'api_url'];

const isWebUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.host !== '';
};

/** What is wrong with a property; null: nothing. */
export const problemOf = (name: PropertyName, value: string): string | null => {
  if (!name.endsWith('url')) return null;
  // `:id` stands for the number of the issue.
  return isWebUrl(value) ? null : 'is not a valid URL';
};
