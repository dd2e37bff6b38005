/**
 * Builds the script that creates a job's release with release-cli, curl or glab, whichever is installed where the job
 * runs. Pure. Values are put in double quotes unescaped for `$`, so the shell expands variables.
 */

/** The `release` section of the configuration. */
type ReleaseConfig = Record<string, unknown>;

const readText = (config: ReleaseConfig, key: string): string | null => {
  const value = config[key];
  return typeof value === 'string' && value !== '' ? value : null;
};

const readTexts = (config: ReleaseConfig, key: string): string[] =>
  [config[key]].flat().filter((one): one is string => typeof one === 'string' && one !== '');

const readLinks = (config: ReleaseConfig): Record<string, string>[] => {
  const { links } = (config['assets'] ?? {}) as { links?: unknown };
  return Array.isArray(links) ? (links as Record<string, string>[]) : [];
};

const quoted = (text: string): string => `"${text}"`;

/** Formats JSON as one shell word in which variables are expanded. */
const jsonWord = (value: unknown): string => JSON.stringify(JSON.stringify(value));

const commit = '$CI_COMMIT_SHA';

const releaseCli = (config: ReleaseConfig): string => {
  const single = ['name', 'description', 'tag_name', 'tag_message', 'released_at'].flatMap((key) => {
    const text = readText(config, key);
    return text === null ? [] : [`--${key.replaceAll('_', '-')} ${quoted(text)}`];
  });
  return [
    'release-cli create',
    ...single,
    `--ref ${quoted(readText(config, 'ref') ?? commit)}`,
    ...readTexts(config, 'milestones').map((title) => `--milestone ${quoted(title)}`),
    ...readLinks(config).map((link) => `--assets-link ${jsonWord(link)}`),
  ].join(' ');
};

const glab = (config: ReleaseConfig): string => {
  const [name, message, at] = ['name', 'tag_message', 'released_at'].map((key) => readText(config, key));
  const milestones = readTexts(config, 'milestones').join(',');
  const links = readLinks(config);
  const create = [
    `glab release create -R "$CI_PROJECT_PATH" ${quoted(readText(config, 'tag_name') ?? '$CI_COMMIT_TAG')}`,
    ...(links.length > 0 ? [`--assets-links ${jsonWord(links)}`] : []),
    ...(milestones !== '' ? [`--milestone ${quoted(milestones)}`] : []),
    ...(name ? [`--name ${quoted(name)}`] : []),
    `--experimental-notes-text-or-file ${quoted(readText(config, 'description') ?? '')}`,
    `--ref ${quoted(readText(config, 'ref') ?? commit)}`,
    ...(message ? [`--tag-message ${quoted(message)}`] : []),
    ...(at ? [`--released-at ${quoted(at)}`] : []),
    '--no-update --no-close-milestone',
  ].join(' ');
  const signIn =
    'glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"';
  return `export GITLAB_HOST="$CI_SERVER_URL"\n  ${signIn}\n  ${create}`;
};

/**
 * Makes the same API call as release-cli. The token comes through a pipe: a process list shows arguments. Uses no
 * variables of its own: gitlab-runner expands `$` in this step before the shell does, and knows only those of the job.
 */
const curl = (config: ReleaseConfig): string => {
  const single = ['tag_name', 'name', 'tag_message', 'released_at'].flatMap((key) => {
    const text = readText(config, key);
    return text === null ? [] : [`${key}=${text}`];
  });
  const fields = [
    ...single,
    `ref=${readText(config, 'ref') ?? commit}`,
    ...readTexts(config, 'milestones').map((title) => `milestones[]=${title}`),
    ...readLinks(config).flatMap((link, at) =>
      Object.entries(link).map(([key, value]) => `assets[links][${at}][${key}]=${value}`),
    ),
  ];
  const notes = readText(config, 'description') ?? '';
  const send = (description: string): string => {
    const data = [...fields, description].map((field) => `      --data-urlencode ${quoted(field)} \\`);
    return `printf 'JOB-TOKEN: %s\\n' "$CI_JOB_TOKEN" | curl --silent --show-error --fail --output /dev/null --header @- \\
${data.join('\n')}
      "$CI_API_V4_URL/projects/$CI_PROJECT_ID/releases"`;
  };
  // After `@` curl expects a file name, after `=` the text itself.
  return `if [ -f ${quoted(notes)} ]; then
    ${send(`description@${notes}`)}
  else
    ${send(`description=${notes}`)}
  fi`;
};

const missing = 'The release is not created: release-cli, curl and glab are all missing where the job runs.';

const forShells = (config: ReleaseConfig): string => `if command -v release-cli > /dev/null 2>&1; then
  ${releaseCli(config)}
elif command -v curl > /dev/null 2>&1; then
  ${curl(config)}
elif command -v glab > /dev/null 2>&1; then
  ${glab(config)}
else
  echo "${missing}" >&2
  exit 127
fi`;

const powerShells = new Set(['powershell', 'pwsh']);

/**
 * @param release the section of the configuration, validated
 * @param shell the runner's name for its shell
 */
export const buildReleaseScript = (release: object, shell: string | null): string[] => {
  const config = release as ReleaseConfig;
  return [shell !== null && powerShells.has(shell) ? releaseCli(config) : forShells(config)];
};
