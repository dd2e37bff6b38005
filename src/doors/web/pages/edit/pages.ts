import { deletePages } from './delete_file.ts';
import { editPages } from './edit_file.ts';
import { folderPages } from './new_folder.ts';
import { newPages } from './new_file.ts';
import { uploadPages } from './upload_file.ts';

export const pages = [...newPages, ...folderPages, ...uploadPages, ...editPages, ...deletePages];
