import { deletePages } from './delete.ts';
import { editPages } from './edit.ts';
import { newPages } from './new.ts';

export const pages = [...newPages, ...editPages, ...deletePages];
