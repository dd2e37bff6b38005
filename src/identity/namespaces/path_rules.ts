/**
 * Rules for the paths of users, groups and projects. Messages and reserved words are GitLab's, so that accepted paths
 * are the same and no path hides a page or an endpoint.
 */

const maxPathLength = 255;

/** First segments that belong to the service. */
export const topLevelWords = new Set([
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

/** Segments of project pages, reserved for projects and subgroups. */
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
  return [...path].length > maxPathLength ? `is too long (maximum is ${maxPathLength} characters)` : null;
};

/**
 * Returns the error of a path segment of a user or group; null: none.
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

/** Returns the error of a path segment of a project; null: none. */
export const projectPathProblem = (path: string): string | null => {
  const length = lengthProblem(path);
  if (length !== null) return length;
  // Clients resolve `.` and `..` before they send the request.
  const isOdd = !characters.test(path) || repositorySuffix.test(path) || path === '.' || path === '..';
  if (isOdd) return projectFormat;
  return projectWords.has(path.toLowerCase()) ? `${path} is a reserved name` : null;
};
