import { ownerPlaces } from '../labels/owner_pages.ts';
import { actPages } from './form_handlers.ts';
import { listPage } from './list.ts';
import { onePage } from './milestone_page.ts';

export const pages = ownerPlaces('milestones').flatMap((kind) => [
  listPage(kind),
  onePage(kind),
  ...actPages(kind),
]);
