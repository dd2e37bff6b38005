import type { Config } from '../../platform/config/fields.ts';
import type { SettingContext } from './value_checks.ts';

/** Extracts the parts of the process configuration that settings refer to. */
export const toSettingContext = ({ repository_storages, sign_in_providers }: Config): SettingContext => ({
  repository_storages: repository_storages.map(({ name }) => name),
  sign_in_sources: sign_in_providers.map(({ name }) => name),
});
