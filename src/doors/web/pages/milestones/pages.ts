import { ownerPlaces } from '../labels/place.ts';
import { actPages } from './acts.ts';
import { listPage } from './list.ts';
import { onePage } from './one.ts';

export const pages = ownerPlaces('milestones').flatMap((kind) => [
  listPage(kind),
  onePage(kind),
  ...actPages(kind),
]);
