/** The paths that crawlers should skip. Public projects, their README, issues and releases stay open to them. */

/** Pages that no search should find. */
const closed = ['/admin', '/api/', '/dashboard', '/oauth/', '/profile', '/search', '/users/', '/-/'];

/** Expensive pages of projects, and pages that exist for every commit, file or filter. */
const costly = [
  'archive',
  'blame',
  'blob',
  'branches',
  'commits',
  'compare',
  'find_file',
  'graphs',
  'jobs',
  'network',
  'pipelines',
  'raw',
];

const lines = [
  'User-agent: *',
  'Allow: /-/assets/',
  ...closed.map((path) => `Disallow: ${path}`),
  ...costly.map((noun) => `Disallow: /*/-/${noun}`),
  // Both forms of these addresses answer.
  'Disallow: /*/compare/',
  'Disallow: /*/commit/',
  'Disallow: /*/tree/',
  'Disallow: /*.git/',
  // Filters, orders and further pages of lists.
  'Disallow: /*?',
];

export const robotsText = `${lines.join('\n')}\n`;
