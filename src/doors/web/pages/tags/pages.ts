import { actPages } from './acts.ts';
import { listPage } from './list.ts';
import { onePage } from './one.ts';

export const pages = [listPage, onePage, ...actPages];
