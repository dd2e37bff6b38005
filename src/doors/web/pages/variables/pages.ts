import { placesOf } from '../ci/places.ts';
import { actPages } from './acts.ts';
import { listPage } from './list.ts';

export const pages = Object.values(placesOf('variables')).flatMap((kind) => [
  listPage(kind),
  ...actPages(kind),
]);
