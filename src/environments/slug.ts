/** What follows from an environment's name alone. Pure. */
import { hash } from 'node:crypto';

const longestSlug = 24;
const kept = 17;

/** Six characters that tell names apart whose slugs would be the same. */
const suffixOf = (name: string): string =>
  BigInt(`0x${hash('sha256', name, 'hex')}`)
    .toString(36)
    .slice(-6);

/** The name as part of a host name (`CI_ENVIRONMENT_SLUG`): lower case, from a letter on, 24 characters at most. */
export const environmentSlug = (name: string): string => {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
  const slug = (/^[a-z]/.test(plain) ? plain : `env-${plain}`).replaceAll(/-+/g, '-');
  if (slug.length <= longestSlug && slug === name) return slug.replace(/-$/, '');
  const start = slug.slice(0, kept);
  return `${start}${start.endsWith('-') ? '' : '-'}${suffixOf(name)}`;
};

export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
export type Tier = (typeof tiers)[number];

const guesses: [RegExp, Tier][] = [
  [/dev|review|trunk/i, 'development'],
  [/test|tst|int|ac(?:ce|)pt|qa|qc|control|quality/i, 'testing'],
  [/st(?:a|)g|mod(?:e|)l|pre|demo|non/i, 'staging'],
  [/pr(?:o|)d|live/i, 'production'],
];

/** The tier that a name speaks of. */
export const tierOf = (name: string): Tier => guesses.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
