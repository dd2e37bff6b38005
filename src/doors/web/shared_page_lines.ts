/**
 * Pages shared by projects and groups, or by issues and merge requests, as lines of `project_and_group_pages.ts`:
 * method, and path below the noun.
 */

/** Actions on one issue or merge request, other than showing and editing it. */
export const issuableLines = [
  'POST /:iid/time',
  'POST /:iid/time/:entry/delete',
  'POST /:iid/tasks',
  'POST /:iid/notes',
  'GET /:iid/notes/:note/edit',
  'POST /:iid/notes/:note',
  'GET /:iid/notes/:note/quote',
  'POST /:iid/notes/:note/tasks',
  'POST /:iid/notes/:note/delete',
  'POST /:iid/discussions/:discussion/resolve',
  'POST /:iid/discussions/:discussion/unresolve',
  'GET /:iid/award_emoji',
  'POST /:iid/award_emoji',
  'POST /:iid/subscribe',
  'POST /:iid/unsubscribe',
  'POST /:iid/todo',
  'POST /:iid/todo/done',
] as const;

export const labelLines = [
  'GET',
  'POST',
  'GET /new',
  'GET /:id/edit',
  'POST /:id',
  'POST /:id/delete',
  'POST /:id/subscribe',
  'POST /:id/unsubscribe',
] as const;

export const boardLines = [
  'GET',
  'POST',
  'GET /new',
  'GET /:id',
  'POST /:id',
  'GET /:id/edit',
  'POST /:id/delete',
  'POST /:id/move',
  'GET /:id/issues/new',
  'POST /:id/issues',
  'POST /:id/lists',
  'POST /:id/lists/:list_id',
  'POST /:id/lists/:list_id/delete',
] as const;

export const milestoneLines = [
  'GET',
  'POST',
  'GET /new',
  'GET /:iid',
  'GET /:iid/edit',
  'POST /:iid',
  'POST /:iid/close',
  'POST /:iid/activate',
  'POST /:iid/delete',
] as const;

export const variableLines = ['GET', 'POST', 'GET /:key', 'POST /:key', 'POST /:key/delete'] as const;

export const runnerLines = [
  'GET',
  'POST',
  'POST /reset_registration_token',
  'GET /:id',
  'POST /:id',
  'POST /:id/reset_token',
  'POST /:id/pause',
  'POST /:id/resume',
  'POST /:id/delete',
] as const;

export const memberLines = [
  'GET',
  'POST',
  'POST /:id',
  'POST /:id/remove',
  'POST /groups',
  'POST /groups/:id',
  'POST /groups/:id/remove',
  'POST /invitations',
  'POST /invitations/remove',
] as const;

export const accessTokenLines = ['GET', 'POST', 'POST /:id/revoke', 'POST /:id/rotate'] as const;

export const deployTokenLines = ['GET', 'POST', 'POST /:id/revoke'] as const;

export const badgeLines = ['GET', 'POST', 'GET /:id', 'POST /:id', 'POST /:id/delete'] as const;
