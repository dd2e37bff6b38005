import { formPages } from './form_handlers.ts';
import { listPage } from './list.ts';
import { ownedListRoutes } from './project_or_group_routes.ts';

export const pages = ownedListRoutes('labels').flatMap((kind) => [listPage(kind), ...formPages(kind)]);
