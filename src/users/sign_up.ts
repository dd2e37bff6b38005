import type { Platform } from '../access/call.ts';
import { Failure, forbidden, invalid } from '../errors.ts';
import { emailDomainProblem } from '../settings/governed.ts';
import { type UserInput, createUser } from './create.ts';

export type SignUp = Required<Pick<UserInput, 'name' | 'username' | 'email' | 'password'>>;

/** Which field a name or an address belongs to that another user has. */
const takenAs = (error: unknown): Failure | null => {
  if (!(error instanceof Failure) || error.kind !== 'conflict') return null;
  const { message } = error.body as { message?: unknown };
  const [, field, problem] = /^(Email|Username) (.+)$/.exec(String(message)) ?? [];
  return field === undefined || problem === undefined ? null : invalid({ [field.toLowerCase()]: [problem] });
};

/**
 * Makes an account for whoever asks, by the rules for sign-up.
 * @returns the id
 * @throws Failure 403 where sign-up is closed, 400 for what a user cannot be, by field
 */
export const signUp = async (
  platform: Platform,
  { name, username, email, password }: SignUp,
): Promise<number> => {
  const settings = platform.settings.current;
  if (!settings.signup_enabled) throw forbidden('Sign-up is disabled.');
  const problem = emailDomainProblem(settings, email);
  if (problem !== null) throw invalid({ email: [problem] });
  try {
    return await createUser(platform, null, { name, username, email, password, email_unchecked: true });
  } catch (error) {
    throw takenAs(error) ?? error;
  }
};
