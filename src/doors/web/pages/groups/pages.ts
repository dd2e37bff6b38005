import { homePage } from './group_home.ts';
import { listPages } from './lists.ts';
import { newPages } from './new.ts';

export const pages = [homePage, ...listPages, ...newPages];
