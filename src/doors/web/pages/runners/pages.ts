import { settingsListRoutes } from '../ci/owner_settings_routes.ts';
import { formPages, disablePage } from './form_handlers.ts';
import { listPage } from './list.ts';

const { instance, group, project } = settingsListRoutes('runners');

export const pages = [
  ...[instance, group, project].flatMap((kind) => [listPage(kind), ...formPages(kind)]),
  disablePage(project),
];
