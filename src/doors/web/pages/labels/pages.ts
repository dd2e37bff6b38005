import { actPages } from './acts.ts';
import { listPage } from './list.ts';
import { ownerPlaces } from './place.ts';

export const pages = ownerPlaces('labels').flatMap((kind) => [listPage(kind), ...actPages(kind)]);
