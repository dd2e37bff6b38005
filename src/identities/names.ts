import type { Reader } from '../db/open.ts';
import { pathProblem } from '../namespaces/path.ts';
import { normalizeText } from '../unicode.ts';
import { nameProblem } from '../users/rules.ts';
import type { Claims } from './oidc.ts';

const longest = 200;

/** The nearest that a user name may be. */
const asPath = (text: string): string => {
  const plain = normalizeText(text.slice(0, longest), 'NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, longest);
  const path = plain.replaceAll(/^[-.]+|[-.]+$/g, '').replace(/\.(?:git|atom)$/i, '');
  return pathProblem(path) === null ? path : 'user';
};

/** A user name that is free, as near to what he would have as may be. */
export const freeUsername = async (
  db: Reader,
  { preferred_username, email }: Claims,
  random: (bytes: number) => Buffer,
): Promise<string> => {
  const base = asPath(preferred_username?.split('@')[0] ?? email?.split('@')[0] ?? '');
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

/** What others see him called. */
export const shownName = ({ name }: Claims, username: string): string =>
  name !== null && nameProblem(name) === null ? name : username;
