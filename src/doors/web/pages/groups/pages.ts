import { homePage } from './group_home.ts';
import { listPages } from './list_pages.ts';
import { newPages } from './new_group.ts';

export const pages = [homePage, ...listPages, ...newPages];
