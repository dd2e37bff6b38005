import type { Reader } from '../../platform/db/open.ts';
import { pathProblem } from '../namespaces/path_rules.ts';
import { normalizeText } from '../../platform/unicode.ts';
import { nameProblem } from '../users/rules.ts';
import type { Claims } from './oidc.ts';

const maxUsernameLength = 200;

/** Converts a text to the nearest valid user name. */
const toUsername = (text: string): string => {
  const plain = normalizeText(text.slice(0, maxUsernameLength), 'NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, maxUsernameLength);
  const path = plain.replaceAll(/^[-.]+|[-.]+$/g, '').replace(/\.(?:git|atom)$/i, '');
  return pathProblem(path) === null ? path : 'user';
};

/** Returns a free user name close to the name that the provider suggests. */
export const findFreeUsername = async (
  db: Reader,
  { preferred_username, email }: Claims,
  random: (bytes: number) => Buffer,
): Promise<string> => {
  const base = toUsername(preferred_username?.split('@')[0] ?? email?.split('@')[0] ?? '');
  const candidates = [base, ...Array.from({ length: 20 }, (_, at) => `${base}${at + 1}`)];
  const rows = await db
    .selectFrom('routes')
    .select('path')
    .where(
      'path',
      'in',
      candidates.map((name) => name.toLowerCase()),
    )
    .execute();
  const taken = new Set(rows.map(({ path }) => path));
  const free = candidates.find((name) => !taken.has(name.toLowerCase()));
  return free ?? `${base}-${random(6).toString('hex')}`;
};

/** Returns the display name of a new user. */
export const getDisplayName = ({ name }: Claims, username: string): string =>
  name !== null && nameProblem(name) === null ? name : username;
