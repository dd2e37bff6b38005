import { actPages, disablePage } from './acts.ts';
import { listPage } from './list.ts';
import { instance, ofProject } from './place.ts';

export const pages = [
  listPage(instance),
  ...actPages(instance),
  listPage(ofProject),
  ...actPages(ofProject),
  disablePage(ofProject),
];
