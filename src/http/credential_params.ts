/** Parameters that authenticate a request. They act on every endpoint and never appear in an answer's headers. */
export const credentialParams: ReadonlySet<string> = new Set([
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
  'sudo',
  'authenticity_token',
]);
