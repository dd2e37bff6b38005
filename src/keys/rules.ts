import { type Problems, invalid } from '../errors.ts';
import type { Settings } from '../settings/fields.ts';
import { type KeyFamily, type ParsedKey, parsePublicKey } from './parse.ts';

const restrictionOf: Record<KeyFamily, (settings: Settings) => number> = {
  rsa: (settings) => settings.rsa_key_restriction,
  dsa: (settings) => settings.dsa_key_restriction,
  ecdsa: (settings) => settings.ecdsa_key_restriction,
  ed25519: (settings) => settings.ed25519_key_restriction,
};

const families: readonly KeyFamily[] = ['rsa', 'dsa', 'ecdsa', 'ed25519'];
const none = -1;

const inWords = new Intl.ListFormat('en-US', { type: 'disjunction' });

/**
 * Why the instance takes no key of this kind, neither on upload nor to sign in with; null: it does. The text
 * continues "Key ...".
 */
export const keyRefusal = (settings: Settings, key: Pick<ParsedKey, 'family' | 'bits'>): string | null => {
  const least = restrictionOf[key.family](settings);
  if (least === none) {
    const allowed = families.filter((family) => restrictionOf[family](settings) !== none);
    return `type is forbidden. Must be ${inWords.format(allowed.map((family) => family.toUpperCase()))}`;
  }
  return key.bits < least ? `length must be at least ${least} bits` : null;
};

export type KeyInput = {
  /** Default: the comment of the key. */
  title?: string | undefined;
  key: string;
  expires_at?: number | null | undefined;
};

export type NewKey = ParsedKey & { title: string; expires_at: number | null };

const longestTitle = 255;

/**
 * The key as it is to be stored.
 * @throws Failure 400 for what is no public key, or none that the instance takes
 */
export const checkKey = async (
  { settings, now }: { settings: Settings; now: number },
  { title = '', key, expires_at = null }: KeyInput,
): Promise<NewKey> => {
  if (key.trim() === '') throw invalid({ key: ["can't be blank"] });
  const parsed = await parsePublicKey(key);
  if (parsed === null) throw invalid({ key: ['is invalid'] });
  const problems: Problems = {};
  const refusal = keyRefusal(settings, parsed);
  const wrong = refusal === null ? [] : [refusal];
  if (expires_at !== null && expires_at <= now) wrong.push('has expired');
  if (wrong.length > 0) problems['key'] = wrong;
  const named = title.trim() || [...parsed.comment].slice(0, longestTitle).join('');
  if (named === '') problems['title'] = ["can't be blank"];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return { ...parsed, title: named, expires_at };
};

export const fingerprintTaken = () => invalid({ fingerprint: ['has already been taken'] });
