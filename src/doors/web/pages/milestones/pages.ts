import { ownedListRoutes } from '../labels/owned_list.ts';
import { formPages } from './form_handlers.ts';
import { listPage } from './list.ts';
import { onePage } from './milestone_page.ts';

export const pages = ownedListRoutes('milestones').flatMap((kind) => [
  listPage(kind),
  onePage(kind),
  ...formPages(kind),
]);
