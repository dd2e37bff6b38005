import type { KeyUsage } from '../../platform/db/schema/credentials.ts';
import { type Problems, invalid } from '../../platform/errors.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { type KeyFamily, type ParsedKey, parsePublicKey } from './parse.ts';

const restrictions: Record<KeyFamily, (settings: Settings) => number> = {
  rsa: (settings) => settings.rsa_key_restriction,
  dsa: (settings) => settings.dsa_key_restriction,
  ecdsa: (settings) => settings.ecdsa_key_restriction,
  ed25519: (settings) => settings.ed25519_key_restriction,
};

export const keyUsages = ['auth', 'signing', 'auth_and_signing'] as const satisfies readonly KeyUsage[];

const families: readonly KeyFamily[] = ['rsa', 'dsa', 'ecdsa', 'ed25519'];
const none = -1;

const inWords = new Intl.ListFormat('en-US', { type: 'disjunction' });

/**
 * Returns why the instance refuses keys of this type, on upload and for sign-in; null: it accepts them. The text
 * continues "Key ...".
 */
export const keyRefusal = (settings: Settings, key: Pick<ParsedKey, 'family' | 'bits'>): string | null => {
  const least = restrictions[key.family](settings);
  if (least === none) {
    const allowed = families.filter((family) => restrictions[family](settings) !== none);
    return `type is forbidden. Must be ${inWords.format(allowed.map((family) => family.toUpperCase()))}`;
  }
  return key.bits < least ? `length must be at least ${least} bits` : null;
};

export type KeyInput = {
  /** Default: the comment of the key. */
  title?: string | undefined;
  key: string;
  expires_at?: number | null | undefined;
  usage_type?: KeyUsage | undefined;
};

export type NewKey = ParsedKey & { title: string; expires_at: number | null; usage_type: KeyUsage };

const maxTitleLength = 255;

/**
 * Validates a key and returns its columns.
 * @throws Failure 400 for an invalid key or one that the instance refuses
 */
export const checkKey = async (
  { settings, now }: { settings: Settings; now: number },
  { title = '', key, expires_at = null, usage_type = 'auth_and_signing' }: KeyInput,
): Promise<NewKey> => {
  if (key.trim() === '') throw invalid({ key: ["can't be blank"] });
  const parsed = await parsePublicKey(key);
  if (parsed === null) throw invalid({ key: ['is invalid'] });
  const problems: Problems = {};
  const refusal = keyRefusal(settings, parsed);
  const wrong = refusal === null ? [] : [refusal];
  if (expires_at !== null && expires_at <= now) wrong.push('has expired');
  if (wrong.length > 0) problems['key'] = wrong;
  const named = title.trim() || [...parsed.comment].slice(0, maxTitleLength).join('');
  if (named === '') problems['title'] = ["can't be blank"];
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return { ...parsed, title: named, expires_at, usage_type };
};

export const fingerprintTaken = () => invalid({ fingerprint: ['has already been taken'] });
