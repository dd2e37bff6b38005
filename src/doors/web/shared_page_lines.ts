/** Pages that projects and groups have alike, as lines of `project_and_group_pages.ts`: method, and path below the noun. */

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
] as const;

export const accessTokenLines = ['GET', 'POST', 'POST /:id/revoke', 'POST /:id/rotate'] as const;

export const deployTokenLines = ['GET', 'POST', 'POST /:id/revoke'] as const;
