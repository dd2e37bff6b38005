/** The topics of help, by group, in reading order. Each is a Markdown file of the package. */

export type Topic = {
  /** Used in URLs: `/help/installation`. */
  name: string;
  title: string;
  /** One line for the start page. */
  about: string;
  /** Path in the package. */
  file: string;
};

export type TopicGroup = { title: string; topics: readonly Topic[] };

const topic = (name: string, title: string, about: string, file = `docs/${name}.md`): Topic => ({
  name,
  title,
  about,
  file,
});

export const topicGroups: readonly TopicGroup[] = [
  {
    title: 'Start',
    topics: [
      topic('installation', 'Installation', 'From a clone, a package, in a container; behind a proxy.'),
      topic('coming_from', 'Coming from GitLab or Gitea', 'Commands side by side, what is not there.'),
      topic('tutorial', 'Tutorial', 'From the first project to the first green pipeline and merge request.'),
    ],
  },
  {
    title: 'Use',
    topics: [
      topic('api', 'API', 'Tokens, requests, lists, and how to set up clients.'),
      topic('clients', 'Writing clients', 'Unknown parameters, filters that are refused, numbers.'),
      topic('importing', 'Importing repositories', 'Bring code from another server.'),
      topic('ci', 'CI/CD pipelines', 'Supported keywords of .gitlab-ci.yml, and differences.'),
      topic('ci_keywords', 'CI/CD keywords', 'Every keyword that is accepted, by place.'),
      topic(
        'quick_actions',
        'Quick actions',
        'Change issues and merge requests with lines such as /assign in a comment.',
      ),
      topic('boards', 'Issue boards', 'Plan with columns: moves, limits, what a board shows.'),
      topic('search', 'Search', 'What is searched, and how.'),
      topic('webhooks', 'Webhooks', 'Tell other systems of what happens.'),
      topic('changes', 'Changes', 'Ask what changed, in place of webhooks.'),
      topic('external_ci', 'Other CI systems', 'Let another system build, and report to Gantry.'),
    ],
  },
  {
    title: 'Run',
    topics: [
      topic('administration', 'Administration', 'Users, settings, tasks of every week.'),
      topic('operations', 'Operations', 'Configuration, monitoring, stopping, what belongs together.'),
      topic('backup', 'Backup', 'Make backups while the service runs, check and restore them.'),
      topic('configuration', 'Settings of the process', 'Every variable and flag, with its default.'),
      topic('commands', 'Commands', 'Every command of gantry, with its options.'),
      topic('settings', 'Settings of the instance', 'Every setting, with its default.'),
      topic('runners', 'Runners', 'Who runs jobs, and in what.'),
      topic('mail', 'Mail', 'Notifications and account mails.'),
      topic('scaling', 'Scaling', 'From one process to several machines.'),
      topic('security', 'Security model', 'Whom Gantry trusts, and what to set up.'),
      topic('promises', 'Security promises', 'What Gantry promises, in detail; reporting.', 'SECURITY.md'),
      topic('troubleshooting', 'Troubleshooting', 'What to do when something fails.'),
      topic('changelog', 'Changelog', 'What changed between versions.', 'CHANGELOG.md'),
    ],
  },
];

const topics = topicGroups.flatMap((group) => group.topics);

export const findTopic = (name: string): Topic | undefined => topics.find((one) => one.name === name);

export const findTopicByFile = (file: string): Topic | undefined => topics.find((one) => one.file === file);
