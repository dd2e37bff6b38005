/**
 * What a user, a group or a project may be called in a URL. Texts and words are GitLab's, so that what it
 * accepts is accepted here, and no name hides a page or an endpoint.
 */

const longestPath = 255;

/** First segments that belong to the service. */
const topLevelWords = new Set([
  '-',
  '.well-known',
  '404.html',
  '422.html',
  '500.html',
  '502.html',
  '503.html',
  'abuse_reports',
  'admin',
  'api',
  'apple-touch-icon-precomposed.png',
  'apple-touch-icon.png',
  'assets',
  'autocomplete',
  'ci',
  'dashboard',
  'deploy.html',
  'explore',
  'favicon.ico',
  'favicon.png',
  'favicon.svg',
  'files',
  'groups',
  'health_check',
  'help',
  'import',
  'invites',
  'jwt',
  'login',
  'metrics',
  'notification_settings',
  'oauth',
  'profile',
  'projects',
  'public',
  'robots.txt',
  's',
  'search',
  'sent_notifications',
  'sitemap.xml',
  'slash-command-logo.png',
  'snippets',
  'u',
  'unsubscribes',
  'uploads',
  'users',
  'v2',
]);

/** Segments that name a page of a project, so neither a project nor a subgroup. */
const projectWords = new Set([
  '-',
  'badges',
  'blame',
  'blob',
  'builds',
  'commits',
  'create',
  'create_dir',
  'edit',
  'files',
  'find_file',
  'new',
  'preview',
  'raw',
  'refs',
  'tree',
  'update',
  'wikis',
]);

const characters = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;
const repositorySuffix = /\.(?:git|atom)$/i;

const namespaceFormat =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";
const projectFormat =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";

const lengthProblem = (path: string): string | null => {
  if (path.trim() === '') return "can't be blank";
  return [...path].length > longestPath ? `is too long (maximum is ${longestPath} characters)` : null;
};

/**
 * What is wrong with one segment as the path of a user or a group; null: nothing.
 * @param place `nested`: below another group
 */
export const pathProblem = (path: string, place: 'top' | 'nested' = 'top'): string | null => {
  const length = lengthProblem(path);
  if (length !== null) return length;
  if (!characters.test(path) || repositorySuffix.test(path) || path.endsWith('.')) return namespaceFormat;
  const word = path.toLowerCase();
  const isReserved = (place === 'top' ? topLevelWords : projectWords).has(word);
  return isReserved ? `${path} is a reserved name` : null;
};

/** What is wrong with one segment as the path of a project; null: nothing. */
export const projectPathProblem = (path: string): string | null => {
  const length = lengthProblem(path);
  if (length !== null) return length;
  // `.` and `..` are resolved away by every client before the request leaves.
  const isOdd = !characters.test(path) || repositorySuffix.test(path) || path === '.' || path === '..';
  if (isOdd) return projectFormat;
  return projectWords.has(path.toLowerCase()) ? `${path} is a reserved name` : null;
};
