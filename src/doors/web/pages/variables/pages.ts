import { settingsListRoutes } from '../ci/owner_settings_routes.ts';
import { formPages } from './form_handlers.ts';
import { listPage } from './list.ts';

export const pages = Object.values(settingsListRoutes('variables')).flatMap((kind) => [
  listPage(kind),
  ...formPages(kind),
]);
