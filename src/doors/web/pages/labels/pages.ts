import { actPages } from './form_handlers.ts';
import { listPage } from './list.ts';
import { ownerPlaces } from './owner_pages.ts';

export const pages = ownerPlaces('labels').flatMap((kind) => [listPage(kind), ...actPages(kind)]);
