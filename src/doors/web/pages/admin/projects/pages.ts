import { listPages } from './list.ts';
import { onePages } from './one.ts';

export const projectPages = [...listPages, ...onePages];
