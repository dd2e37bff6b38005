/** Secrets of hooks: token, values of URL variables and of headers. Stored encrypted, shown to nobody. */
import { seal, unseal } from '../../core/access/credentials/encrypt_secrets.ts';
import type { Platform } from '../../core/platform.ts';
import type { HookRow } from './queries.ts';

export type Values = { [name: string]: string };

type Keys = Pick<Platform, 'secrets'>;

const purpose = 'hook';

export const sealText = ({ secrets }: Keys, text: string): string =>
  seal(secrets.encryption_key, purpose, text);

const unsealText = ({ secrets }: Keys, sealed: string): string =>
  unseal(secrets.encryption_key, purpose, sealed);

const unsealOptional = (keys: Keys, sealed: string | null): string | null =>
  sealed === null ? null : unsealText(keys, sealed);

/** Encrypts values by name; null if there are no values. */
export const sealValues = (keys: Keys, values: Values): string | null =>
  Object.keys(values).length === 0 ? null : sealText(keys, JSON.stringify(values));

export const unsealValues = (keys: Keys, sealed: string | null): Values =>
  sealed === null ? {} : (JSON.parse(unsealText(keys, sealed)) as Values);

export type HookSecrets = {
  token: string | null;
  signingToken: string | null;
  urlVariables: Values;
  headers: Values;
};

export const unsealHook = (keys: Keys, hook: HookRow): HookSecrets => ({
  token: unsealOptional(keys, hook.sealed_token),
  signingToken: unsealOptional(keys, hook.sealed_signing_token),
  urlVariables: unsealValues(keys, hook.sealed_url_variables),
  headers: unsealValues(keys, hook.sealed_custom_headers),
});

const placeholder = /\{([A-Za-z]\w*(?:[-.]\w+)*)\}/g;

/** Returns the names of the variables that a URL uses. */
export const findPlaceholders = (url: string): string[] =>
  [...url.matchAll(placeholder)].map(([, name = '']) => name);

/** Replaces `{name}` in the URL of a hook by the values of its variables. */
export const interpolateUrl = (url: string, variables: Values): string =>
  url.replaceAll(
    placeholder,
    (whole, name: string) => (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? whole,
  );
