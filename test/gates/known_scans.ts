/** Statements for which PostgreSQL reads a large table whole, and why. What makes one faster removes its line. */
type KnownScan = { tables: readonly string[]; text: RegExp; why: string };

const knownScans: readonly KnownScan[] = [
  {
    tables: [
      'audit_events',
      'broadcast_messages',
      'deploy_tokens',
      'namespaces',
      'oauth_applications',
      'projects',
      'releases',
      'runners',
      'snippets',
      'topics',
      'users',
    ],
    text: /^\s*select count\(\*\) as "total" from "/,
    why: 'the exact total of a list over the whole instance, or over all groups',
  },
  {
    tables: ['namespaces'],
    text: /with recursive (?:ancestors|reach)\b/,
    why: 'PostgreSQL expects a recursion to find ten times the rows that it starts with',
  },
  {
    tables: ['runner_projects', 'projects'],
    text: /^\s*select "runners"\.\*/,
    why: 'runners of a project, of its groups or of the instance, in one list',
  },
  {
    tables: [
      'keys',
      'merge_requests',
      'milestones',
      'namespaces',
      'project_counters',
      'projects',
      'snippets',
      'users',
    ],
    text: /as active_users/,
    why: 'statistics of the instance, for administrators',
  },
  {
    tables: ['settings', 'migrations'],
    text: /from "?(?:settings|migrations)"?\s*$/,
    why: 'small tables that are read whole',
  },
  {
    tables: ['byte_holds', 'projects'],
    text: /from "byte_holds"|artifacts\.expire_at <=/,
    why: 'background work that runs meanwhile, in batches',
  },
];

/** Returns whether a statement is known to read a table whole. */
export const isKnownScan = (table: string, statement: string): boolean =>
  knownScans.some(({ tables, text }) => tables.includes(table) && text.test(statement));
