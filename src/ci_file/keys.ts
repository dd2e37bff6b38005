/** The words of the language, by where they stand. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** What `default` may say for all jobs. */
export const defaultKeys = words(
  'before_script after_script image services cache interruptible timeout retry tags artifacts hooks id_tokens identity',
);

/** What may stand beside the jobs and means the same as under `default`. */
export const globalDefaults = words('image services cache before_script after_script');

/** Top-level words that are no job. */
export const globalKeys = words(
  'default include image services before_script after_script variables stages types cache workflow',
);

export const jobKeys = words(
  `script run image services start_in artifacts cache dependencies before_script after_script hooks coverage retry
  parallel timeout release id_tokens publish pages inputs manual_confirmation extends rules variables inherit
  allow_failure when needs resource_group stage type only except interruptible environment trigger secrets identity
  dast_configuration tags`,
);

/** Of one that starts another pipeline. */
export const bridgeKeys = words(
  `trigger parallel inputs extends stage type only except rules variables inherit allow_failure when start_in needs
  resource_group environment interruptible manual_confirmation`,
);

/** Taken and kept, but nothing comes of it yet: said in a warning. Beside it `pages`, which may say no. */
export const keptOnly = ['publish', 'id_tokens', 'inputs'] as const;

/** Known words that are refused: silence would let somebody think that they work. */
export const refusedKeys = ['run', 'identity', 'dast_configuration'] as const;
