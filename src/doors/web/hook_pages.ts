/** The pages of hooks, the same for a project, a group and the instance. */
export const hookLines = [
  'GET',
  'POST',
  'GET /new',
  'GET /:id',
  'POST /:id',
  'GET /:id/edit',
  'POST /:id/delete',
  'POST /:id/resume',
  'POST /:id/test',
  'GET /:id/deliveries/:delivery',
  'POST /:id/deliveries/:delivery/resend',
] as const;
