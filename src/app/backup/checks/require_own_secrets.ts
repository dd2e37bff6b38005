/** Checks before a backup that the secrets file belongs to the database: other secrets could not open the backup. */
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { readInstanceRecord, secretsDiffer } from '../../service/instance_record.ts';
import { findDifferingSecret, readSecrets, secretsPath } from '../../service/secrets.ts';

type SecretsParts = { config: Config; store: Store; withSecrets: boolean };

/** @throws StartFailure if the file is missing, unreadable or of another instance */
export const requireOwnSecrets = async ({ config, store, withSecrets }: SecretsParts): Promise<void> => {
  if (!withSecrets) return;
  const file = secretsPath(config);
  const secrets = readSecrets(file);
  if (secrets === null)
    throw new StartFailure(`${file} is missing: name it in GANTRY_SECRETS_FILE, or use --without-secrets`);
  const { fingerprints } = await readInstanceRecord(store);
  const differing = findDifferingSecret(fingerprints, secrets, config.data);
  if (differing !== null) throw secretsDiffer(file, differing);
};
