import { settingsListRoutes } from '../ci/owner_settings_routes.ts';
import { formPages } from './form_handlers.ts';
import { deliveryPages } from './delivery_page.ts';
import { listPage } from './list.ts';
import { showPage } from './hook_page.ts';

export const pages = Object.values(settingsListRoutes('hooks')).flatMap((kind) => [
  listPage(kind),
  ...formPages(kind),
  showPage(kind),
  ...deliveryPages(kind),
]);
