import { editPages } from './edit.ts';
import { feedPage } from './feed.ts';
import { latestPage, listPage } from './list.ts';
import { newPages } from './new.ts';
import { onePage } from './one.ts';

export const pages = [feedPage, listPage, latestPage, ...newPages, onePage, ...editPages];
