import { listPages } from './list.ts';
import { onePages } from './project_page.ts';

export const projectPages = [...listPages, ...onePages];
