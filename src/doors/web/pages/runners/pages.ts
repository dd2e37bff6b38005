import { placesOf } from '../ci/places.ts';
import { actPages, disablePage } from './acts.ts';
import { listPage } from './list.ts';

const { instance, group, project } = placesOf('runners');

export const pages = [
  ...[instance, group, project].flatMap((kind) => [listPage(kind), ...actPages(kind)]),
  disablePage(project),
];
