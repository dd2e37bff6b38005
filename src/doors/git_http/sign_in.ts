import type { Call } from '../../core/access/call.ts';
import { jobTokenPrefix, authenticateJobToken } from '../../core/access/credentials/job_token.ts';
import { anonymous } from '../../core/access/viewer.ts';
import { Failure } from '../../platform/errors.ts';
import type { GitUser } from '../../code/repository/refs/transfer_access.ts';
import { type Basic, readBasic, signInBasic } from '../../identity/sessions/basic_auth.ts';
import { authenticateDeployToken, isDeployToken } from '../../projects/deploy_tokens/authenticate.ts';
import { challenge } from './git_responses.ts';

const nobody: GitUser = { viewer: anonymous, cause: null, scopes: null, deployKey: null };

const secondFactorText = (baseUrl: string): string =>
  [
    'HTTP Basic: Access denied. Your account has a second factor: a password is not enough for git over HTTP.',
    "Use a personal access token with the scope 'read_repository' or 'write_repository' in its place.",
    `You can make one at ${baseUrl}/profile/personal_access_tokens`,
  ].join('\n');

const jobLogin = 'gitlab-ci-token';

const isOfJob = ({ login, password }: Basic): boolean =>
  login === jobLogin && password.startsWith(jobTokenPrefix);

/** Authenticates a job token, which grants the read access of its user, and never pushes. */
const jobUser = async ({ db, now, ip, userAgent }: Call, token: string): Promise<GitUser> => {
  const { user, viewer } = await authenticateJobToken(db, token, now);
  const cause = { user: { id: user.id }, sudo_by_id: null, source: { ip, userAgent } };
  return { viewer, scopes: ['read_repository'], deployKey: null, cause };
};

/**
 * Authenticates the request. Without credentials the user is anonymous.
 * @throws Refusal 401 for wrong credentials
 * @throws Failure 403 for a blocked user, 429 after too many wrong passwords
 */
export const signInGit = async (call: Call): Promise<GitUser> => {
  const { platform, header, ip, userAgent } = call;
  const value = header('authorization');
  if (value === undefined) return nobody;
  const credentials = readBasic(value);
  if (credentials === null) throw challenge();
  const source = { ip, userAgent };
  try {
    if (isOfJob(credentials)) return await jobUser(call, credentials.password);
    if (isDeployToken(credentials)) {
      const { viewer, scopes } = await authenticateDeployToken(platform, credentials, ip);
      return { viewer, scopes, deployKey: null, cause: null };
    }
    const signedIn = await signInBasic(platform, credentials, source);
    if (signedIn === 'second_factor') throw challenge(secondFactorText(call.baseUrl));
    const { user, viewer, scopes } = signedIn;
    return { viewer, scopes, deployKey: null, cause: { user: { id: user.id }, sudo_by_id: null, source } };
  } catch (error) {
    // Git needs a Basic challenge instead of the API's.
    if (error instanceof Failure && error.kind === 'unauthorized') throw challenge();
    throw error;
  }
};
