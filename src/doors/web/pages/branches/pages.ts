import { actPages } from './acts.ts';
import { listPage } from './list.ts';

export const pages = [listPage, ...actPages];
