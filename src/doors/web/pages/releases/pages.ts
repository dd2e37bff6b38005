import { editPages } from './edit_release.ts';
import { feedPage } from './feed.ts';
import { latestPage, listPage } from './list.ts';
import { newPages } from './new_release.ts';
import { onePage } from './release_page.ts';

export const pages = [feedPage, listPage, latestPage, ...newPages, onePage, ...editPages];
