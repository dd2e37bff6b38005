import type { Config } from '../config.ts';
import type { Surroundings } from './checks.ts';

/** What the process was configured with, as far as settings name it. */
export const surroundingsOf = ({ repository_storages, sign_in_providers }: Config): Surroundings => ({
  repository_storages: repository_storages.map(({ name }) => name),
  sign_in_sources: sign_in_providers.map(({ name }) => name),
});
