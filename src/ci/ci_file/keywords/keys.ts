/** The keywords of the language, by position. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Keywords allowed in `default`. */
export const defaultKeys = words(
  'before_script after_script image services cache interruptible timeout retry tags artifacts hooks id_tokens identity',
);

/** Top-level keywords that mean the same as in `default`. */
export const globalDefaults = words('image services cache before_script after_script');

/** Top-level keywords that are not jobs. */
export const globalKeys = words(
  'default include image services before_script after_script variables stages types cache workflow',
);

export const jobKeys = words(
  `script run image services start_in artifacts cache dependencies before_script after_script hooks coverage retry
  parallel timeout release id_tokens publish pages inputs manual_confirmation extends rules variables inherit
  allow_failure when needs resource_group stage type only except interruptible environment trigger secrets identity
  dast_configuration tags`,
);

/** Keywords of a trigger job. */
export const bridgeKeys = words(
  `trigger parallel inputs extends stage type only except rules variables inherit allow_failure when start_in needs
  resource_group environment interruptible manual_confirmation`,
);

/** Keywords that are stored but not implemented; the lint warns of them. `pages` is checked separately. */
export const notImplementedKeys = ['publish', 'id_tokens', 'inputs'] as const;

/** Keywords that are known but refused, rather than silently ignored. */
export const refusedKeys = ['run', 'identity', 'dast_configuration'] as const;
