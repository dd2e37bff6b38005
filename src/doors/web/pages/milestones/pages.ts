import { ownedListRoutes } from '../labels/project_or_group_routes.ts';
import { formPages } from './form_handlers.ts';
import { listPage } from './list.ts';
import { onePage } from './milestone_page.ts';

export const pages = ownedListRoutes('milestones').flatMap((kind) => [
  listPage(kind),
  onePage(kind),
  ...formPages(kind),
]);
