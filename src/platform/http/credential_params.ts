/**
 * Parameters that authenticate a request. Every endpoint accepts them, and the header of ignored parameters omits
 * them.
 */
export const credentialParams: ReadonlySet<string> = new Set([
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
  'feed_token',
  'sudo',
  'authenticity_token',
]);
