import { deletePages } from './delete.ts';
import { editPages } from './edit.ts';
import { folderPages } from './new_folder.ts';
import { newPages } from './new.ts';
import { uploadPages } from './upload.ts';

export const pages = [...newPages, ...folderPages, ...uploadPages, ...editPages, ...deletePages];
