import { actPages } from './acts.ts';
import { listPages } from './list.ts';
import { onePages } from './one.ts';

export const pages = [...listPages, ...onePages, ...actPages];
