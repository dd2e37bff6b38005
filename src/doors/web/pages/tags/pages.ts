import { formPages } from './form_handlers.ts';
import { listPage } from './list.ts';
import { onePage } from './tag_page.ts';

export const pages = [listPage, onePage, ...formPages];
