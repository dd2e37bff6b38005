/** Defaults of the instance's settings that the service reads already. */
import type { Visibility } from '../db/schema.ts';

export const settings = {
  default_projects_limit: 100_000,
  default_project_visibility: 'private' as Visibility,
  default_group_visibility: 'private' as Visibility,
  avatar_service_enabled: true,
};
