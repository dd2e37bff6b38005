import { placesOf } from '../ci/settings_owner.ts';
import { actPages } from './form_handlers.ts';
import { listPage } from './list.ts';

export const pages = Object.values(placesOf('variables')).flatMap((kind) => [
  listPage(kind),
  ...actPages(kind),
]);
