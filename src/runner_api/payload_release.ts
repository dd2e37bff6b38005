/**
 * The step by which a runner makes the release of a job that succeeded: with release-cli, curl or glab, whichever there
 * is where the job runs. Pure. What the file says is put in double quotes as it stands, so the shell fills in variables.
 */

/** As `release` stands in the configuration. */
type Said = Record<string, unknown>;

const textIn = (said: Said, key: string): string | null => {
  const value = said[key];
  return typeof value === 'string' && value !== '' ? value : null;
};

const textsIn = (said: Said, key: string): string[] =>
  [said[key]].flat().filter((one): one is string => typeof one === 'string' && one !== '');

const linksIn = (said: Said): Record<string, string>[] => {
  const { links } = (said['assets'] ?? {}) as { links?: unknown };
  return Array.isArray(links) ? (links as Record<string, string>[]) : [];
};

const quoted = (text: string): string => `"${text}"`;

/** JSON as one word of a shell in which variables are filled in. */
const jsonWord = (value: unknown): string => JSON.stringify(JSON.stringify(value));

const commit = '$CI_COMMIT_SHA';

const releaseCli = (said: Said): string => {
  const single = ['name', 'description', 'tag_name', 'tag_message', 'released_at'].flatMap((key) => {
    const text = textIn(said, key);
    return text === null ? [] : [`--${key.replaceAll('_', '-')} ${quoted(text)}`];
  });
  return [
    'release-cli create',
    ...single,
    `--ref ${quoted(textIn(said, 'ref') ?? commit)}`,
    ...textsIn(said, 'milestones').map((title) => `--milestone ${quoted(title)}`),
    ...linksIn(said).map((link) => `--assets-link ${jsonWord(link)}`),
  ].join(' ');
};

const glab = (said: Said): string => {
  const [name, message, at] = ['name', 'tag_message', 'released_at'].map((key) => textIn(said, key));
  const milestones = textsIn(said, 'milestones').join(',');
  const links = linksIn(said);
  const create = [
    `glab release create -R "$CI_PROJECT_PATH" ${quoted(textIn(said, 'tag_name') ?? '$CI_COMMIT_TAG')}`,
    ...(links.length > 0 ? [`--assets-links ${jsonWord(links)}`] : []),
    ...(milestones !== '' ? [`--milestone ${quoted(milestones)}`] : []),
    ...(name ? [`--name ${quoted(name)}`] : []),
    `--experimental-notes-text-or-file ${quoted(textIn(said, 'description') ?? '')}`,
    `--ref ${quoted(textIn(said, 'ref') ?? commit)}`,
    ...(message ? [`--tag-message ${quoted(message)}`] : []),
    ...(at ? [`--released-at ${quoted(at)}`] : []),
    '--no-update --no-close-milestone',
  ].join(' ');
  const signIn =
    'glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"';
  return `export GITLAB_HOST="$CI_SERVER_URL"\n  ${signIn}\n  ${create}`;
};

/** The same call as release-cli's. The token comes by a pipe: who lists processes sees their words. */
const curl = (said: Said): string => {
  const single = ['tag_name', 'name', 'tag_message', 'released_at'].flatMap((key) => {
    const text = textIn(said, key);
    return text === null ? [] : [`${key}=${text}`];
  });
  const fields = [
    ...single,
    `ref=${textIn(said, 'ref') ?? commit}`,
    ...textsIn(said, 'milestones').map((title) => `milestones[]=${title}`),
    ...linksIn(said).flatMap((link, at) =>
      Object.entries(link).map(([key, value]) => `assets[links][${at}][${key}]=${value}`),
    ),
    // Behind a `@` it is the name of a file, behind a `=` the text itself.
    'description$release_notes',
  ].map((field) => `    --data-urlencode ${quoted(field)} \\`);
  return `release_notes=${quoted(textIn(said, 'description') ?? '')}
  if [ -f "$release_notes" ]; then release_notes="@$release_notes"; else release_notes="=$release_notes"; fi
  printf 'JOB-TOKEN: %s\\n' "$CI_JOB_TOKEN" | curl --silent --show-error --fail --output /dev/null --header @- \\
${fields.join('\n')}
    "$CI_API_V4_URL/projects/$CI_PROJECT_ID/releases"`;
};

const missing = 'The release is not made: there is none of release-cli, curl and glab where the job runs.';

const forShells = (said: Said): string => `if command -v release-cli > /dev/null 2>&1; then
  ${releaseCli(said)}
elif command -v curl > /dev/null 2>&1; then
  ${curl(said)}
elif command -v glab > /dev/null 2>&1; then
  ${glab(said)}
else
  echo "${missing}" >&2
  exit 127
fi`;

const powerShells = new Set(['powershell', 'pwsh']);

/**
 * @param release as the configuration has it, checked
 * @param shell as the runner names the one by which it runs scripts
 */
export const releaseScript = (release: object, shell: string | null): string[] => {
  const said = release as Said;
  return [shell !== null && powerShells.has(shell) ? releaseCli(said) : forShells(said)];
};
