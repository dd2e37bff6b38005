import type { Platform } from '../../core/platform.ts';
import { Failure, forbidden, invalid } from '../../platform/errors.ts';
import { findEmailDomainProblem } from '../../core/settings/setting_effects.ts';
import { type UserInput, createUser } from './create.ts';
import { normalizedEmail } from './rules.ts';

export type SignUp = Required<Pick<UserInput, 'name' | 'username' | 'email' | 'password'>>;

/** Returns the failure for the field whose name or address is taken; null: another error. */
const takenField = (error: unknown): Failure | null => {
  if (!(error instanceof Failure) || error.kind !== 'conflict') return null;
  const { message } = error.body as { message?: unknown };
  const [, field, problem] = /^(Email|Username) (.+)$/.exec(String(message)) ?? [];
  return field === undefined || problem === undefined ? null : invalid({ [field.toLowerCase()]: [problem] });
};

/**
 * Creates an account for a visitor, if sign-up is open.
 * @param provenEmail address that the visitor proved by a link of a mail; null: none
 * @returns the id
 * @throws Failure 403 if sign-up is closed, 400 by field for invalid attributes
 */
export const signUp = async (
  platform: Platform,
  { name, username, email, password }: SignUp,
  provenEmail: string | null = null,
): Promise<number> => {
  const settings = platform.settings.current;
  if (!settings.signup_enabled) throw forbidden('Sign-up is disabled.');
  const problem = findEmailDomainProblem(settings, email);
  if (problem !== null) throw invalid({ email: [problem] });
  try {
    const email_unchecked = normalizedEmail(email) !== provenEmail;
    return await createUser(platform, null, { name, username, email, password, email_unchecked });
  } catch (error) {
    throw takenField(error) ?? error;
  }
};
