/** Derives slug and tier from an environment's name. Pure. */
import { hash } from 'node:crypto';

const maxSlugLength = 24;
const prefixLength = 17;

/** Returns a six-character hash that keeps slugs of different names distinct. */
const toSuffix = (name: string): string =>
  BigInt(`0x${hash('sha256', name, 'hex')}`)
    .toString(36)
    .slice(-6);

/** Converts a name to `CI_ENVIRONMENT_SLUG`: lower case, starting with a letter, at most 24 characters. */
export const toEnvironmentSlug = (name: string): string => {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
  const slug = (/^[a-z]/.test(plain) ? plain : `env-${plain}`).replaceAll(/-+/g, '-');
  if (slug.length <= maxSlugLength && slug === name) return slug.replace(/-$/, '');
  const start = slug.slice(0, prefixLength);
  return `${start}${start.endsWith('-') ? '' : '-'}${toSuffix(name)}`;
};

export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
export type Tier = (typeof tiers)[number];

const tierPatterns: [RegExp, Tier][] = [
  [/dev|review|trunk/i, 'development'],
  [/test|tst|int|ac(?:ce|)pt|qa|qc|control|quality/i, 'testing'],
  [/st(?:a|)g|mod(?:e|)l|pre|demo|non/i, 'staging'],
  [/pr(?:o|)d|live/i, 'production'],
];

/** Guesses the deployment tier from the name. */
export const guessTier = (name: string): Tier =>
  tierPatterns.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
