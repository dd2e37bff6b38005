/** Pages of the user's account, and of links in mails about it. */
export const accountLinkLines = [
  'GET /users/password/new',
  'POST /users/password',
  'GET /users/password/edit',
  'POST /users/password/edit',
  'GET /users/confirmation/new',
  'POST /users/confirmation',
  'GET /users/confirmation',
  'POST /users/confirmation/confirm',
] as const;

export const profileLines = [
  'GET /profile',
  'POST /profile',
  'POST /profile/status',
  'POST /profile/avatar',
  'POST /profile/avatar/delete',
  'GET /profile/account',
  'POST /profile/account/username',
  'POST /profile/account/delete',
  'GET /profile/preferences',
  'POST /profile/preferences',
  'GET /profile/notifications',
  'POST /profile/notifications',
  'POST /profile/notifications/projects/:id',
  'POST /profile/notifications/groups/:id',
  'GET /profile/password',
  'POST /profile/password',
  'GET /profile/sessions',
  'POST /profile/sessions/:id/revoke',
] as const;
