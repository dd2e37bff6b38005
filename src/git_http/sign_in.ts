import type { Call } from '../access/call.ts';
import { jobTokenStart, signInJob } from '../access/job_token.ts';
import { anonymous } from '../access/viewer.ts';
import { Failure } from '../errors.ts';
import type { GitUser } from '../repository/transfer.ts';
import { type Basic, readBasic, signInBasic } from '../sessions/basic.ts';
import { challenge } from './answers.ts';

const nobody: GitUser = { viewer: anonymous, cause: null, scopes: null, deployKey: null };

const secondFactorText = (baseUrl: string): string =>
  [
    'HTTP Basic: Access denied. Your account has a second factor: a password is not enough for git over HTTP.',
    "Use a personal access token with the scope 'read_repository' or 'write_repository' in its place.",
    `You can make one at ${baseUrl}/profile/personal_access_tokens`,
  ].join('\n');

const jobLogin = 'gitlab-ci-token';

const isOfJob = ({ login, password }: Basic): boolean =>
  login === jobLogin && password.startsWith(jobTokenStart);

/** A job reads as its user does, where it may: it never pushes, whatever he may. */
const jobUser = async ({ db, now, ip, userAgent }: Call, token: string): Promise<GitUser> => {
  const { user, viewer } = await signInJob(db, token, now);
  const cause = { user: { id: user.id }, sudo_by_id: null, source: { ip, userAgent } };
  return { viewer, scopes: ['read_repository'], deployKey: null, cause };
};

/**
 * Who asks: nobody where the request brings no name and password.
 * @throws Refusal 401 for wrong ones
 * @throws Failure 403 for a blocked user, 429 after too many wrong passwords
 */
export const signInGit = async (call: Call): Promise<GitUser> => {
  const { platform, header, ip, userAgent } = call;
  const value = header('authorization');
  if (value === undefined) return nobody;
  const given = readBasic(value);
  if (given === null) throw challenge();
  const source = { ip, userAgent };
  try {
    if (isOfJob(given)) return await jobUser(call, given.password);
    const found = await signInBasic(platform, given, source);
    if (found === 'second_factor') throw challenge(secondFactorText(call.baseUrl));
    const { user, viewer, scopes } = found;
    return { viewer, scopes, deployKey: null, cause: { user: { id: user.id }, sudo_by_id: null, source } };
  } catch (error) {
    // A dead token's own challenge is for other clients.
    if (error instanceof Failure && error.kind === 'unauthorized') throw challenge();
    throw error;
  }
};
